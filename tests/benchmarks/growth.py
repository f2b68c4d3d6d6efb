"""Renders the rows of a growth measurement as CSV and as plots."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from evaluation.report import plots

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# (tables, milliseconds at p95): the target for all stages, without the question's embedding.
LATENCY_BUDGET = ((86, 25.0), (2377, 60.0), (100_000, 150.0))
MEMORY_BUDGET_MIB = 2048.0


@dataclass(frozen=True, slots=True)
class Growth:
    """The figures of one size. Question times are milliseconds, ``cpu`` that of this process only.

    ``resident_mib`` is the memory of the searching process without the embedding model;
    ``store_mib`` is the index's size on disk. ``found`` is the share of questions for which all
    tables are shown.
    """

    tables: int
    columns: int
    embedder: str
    generate_s: float
    index_s: float
    index_s_per_1000: float
    embed_s: float
    write_s: float
    store_mib: float
    load_s: float
    resident_mib: float
    retrieve_p50: float
    retrieve_p95: float
    plan_p50: float
    plan_p95: float
    total_p50: float
    total_p95: float
    cpu_p50: float
    cpu_p95: float
    questions: int
    found: float


def write_csv(path: Path, rows: Sequence[Growth]) -> None:
    """A header and one line for each size."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Growth)])
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)


def draw_latency(rows: Sequence[Growth]) -> str:
    """The time of a question over the number of tables, with the target."""

    def draw(axes: Axes) -> None:
        sizes = [row.tables for row in rows]
        for at, (label, values) in enumerate(
            (
                ("p95, wall", [row.total_p95 for row in rows]),
                ("p50, wall", [row.total_p50 for row in rows]),
                ("p95, CPU of the process", [row.cpu_p95 for row in rows]),
            )
        ):
            axes.plot(sizes, values, color=plots.CYCLE[at], marker=plots.MARKERS[at], label=label)
        axes.plot(
            *zip(*LATENCY_BUDGET, strict=True),
            color=plots.GREY,
            linestyle="--",
            marker="_",
            label="budget, p95",
        )
        _scale(axes, sizes)
        axes.set_yscale("log")
        axes.set_ylabel("milliseconds a question")
        plots.show_legend(axes)

    text = "; ".join(f"{row.tables} tables: p95 {row.total_p95:.1f} ms" for row in rows)
    return plots.draw_svg(draw, height=3.4, name="latency", description=text)


def draw_memory(rows: Sequence[Growth]) -> str:
    """Resident memory of the process that searches."""

    def draw(axes: Axes) -> None:
        sizes = [row.tables for row in rows]
        axes.plot(sizes, [row.resident_mib for row in rows], color=plots.BLUE, marker="o")
        axes.axhline(MEMORY_BUDGET_MIB, color=plots.GREY, linestyle="--")
        _scale(axes, sizes)
        axes.set_ylabel("resident memory, MiB")
        axes.set_ylim(bottom=0)

    text = "; ".join(f"{row.tables} tables: {row.resident_mib:.0f} MiB" for row in rows)
    return plots.draw_svg(draw, height=2.8, name="memory", description=text)


def _scale(axes: Axes, sizes: Sequence[int]) -> None:
    axes.set_xscale("log")
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes], rotation=30)
    axes.minorticks_off()
    axes.set_xlabel("tables")
