"""Writes the figures of ``docs/explanation/sizing.md``: ``sizing.csv`` and two charts.

    python -m tests.benchmarks.sizing_curves [--output docs/figures]

The smallest deployments for loads up to 10,000 questions a minute, and what one deployment does
when the load exceeds what it can answer. Simulated throughout, with the engine profile's
assumptions.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from evaluation.report import plots
from evaluation.sizing.engine import read_profile
from evaluation.sizing.search import Sizing, Targets, find_smallest, predict
from evaluation.sizing.service import Deployment
from evaluation.sizing.workload import read_demo
from serve_app.service.load import Load

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LOADS = (60, 150, 300, 600, 1200, 2500, 5000, 10_000)
_TARGETS = Targets(p95_s=10.0)
_OVERLOADS = (100, 200, 300, 400, 500, 600, 700, 800, 1000, 1200, 1600)
_FIXED = (2, 4)
_HEADER = "questions_per_minute,replicas,engines,p50_s,p95_s,p99_s,refused_share,cpu_share,batch"
_PERCENTS = (50, 95, 99)


def draw_sizes(found: Sequence[Sizing]) -> str:
    """Replicas and engines over the load."""

    def draw(axes: Axes) -> None:
        loads = [one.per_minute for one in found]
        engines = [one.deployment.engines for one in found]
        replicas = [one.deployment.replicas for one in found]
        axes.plot(loads, engines, color=plots.BLUE, marker="o", label="engine replicas (GPUs)")
        axes.plot(loads, replicas, color=plots.VERMILLION, marker="D", label="ingress replicas")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xticks(loads, [f"{load:,.0f}" for load in loads], rotation=30)
        axes.minorticks_off()
        axes.set_yticks([1, 2, 5, 10, 20, 50, 100], ["1", "2", "5", "10", "20", "50", "100"])
        axes.set_xlabel("questions a minute")
        plots.show_legend(axes)

    text = "; ".join(
        f"{one.per_minute:,.0f} a minute: {one.deployment.engines} engines, "
        f"{one.deployment.replicas} replicas"
        for one in found
    )
    return plots.draw_svg(draw, height=3.4, name="sizes", description=text)


def draw_overload(found: Sequence[Sizing]) -> str:
    """Latency and refusals of one deployment over the load."""

    def draw(axes: Axes) -> None:
        loads = [one.per_minute for one in found]
        for at, percent in enumerate(_PERCENTS):
            seconds = [one.prediction.latency_s(percent) for one in found]
            axes.plot(
                loads,
                seconds,
                color=plots.CYCLE[at],
                marker=plots.MARKERS[at],
                label=f"p{percent}, seconds",
            )
        refused = [100 * one.prediction.refused_share for one in found]
        axes.plot(loads, refused, color=plots.GREY, linestyle="--", label="refused, percent")
        axes.set_ylim(bottom=0)
        axes.set_xlabel("questions a minute")
        plots.show_legend(axes)

    text = "; ".join(
        f"{one.per_minute:,.0f} a minute: p95 {one.prediction.latency_s(95):.1f} s, "
        f"{one.prediction.refused_share:.0%} refused"
        for one in found
    )
    return plots.draw_svg(draw, height=3.4, name="overload", description=text)


def write_table(found: Sequence[Sizing], path: Path) -> None:
    """One row for each deployment."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(_HEADER.split(","))
        for one in found:
            prediction = one.prediction
            latencies = [f"{prediction.latency_s(percent):.2f}" for percent in _PERCENTS]
            shares = [f"{prediction.refused_share:.4f}", f"{prediction.cpu_share:.4f}"]
            numbers = [one.per_minute, one.deployment.replicas, one.deployment.engines]
            writer.writerow([*numbers, *latencies, *shares, f"{prediction.batch:.1f}"])


def main() -> None:
    """Simulates and writes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--output", type=Path, default=Path("docs/figures"))
    folder = parser.parse_args().output
    workload = read_demo(cpu_before_ms=49, cpu_after_ms=57, database_ms=20)
    profile = read_profile("rtx-a6000-qwen2.5-7b")
    deployment = Deployment(*_FIXED, profile, build_load=lambda: Load(5.0))
    sizes = [find_smallest(load, _TARGETS, deployment, workload) for load in _LOADS]
    overload = [predict(load, deployment, workload) for load in _OVERLOADS]
    write_table([*sizes, *overload], folder / "sizing.csv")
    (folder / "sizing.svg").write_text(draw_sizes(sizes), encoding="utf-8")
    (folder / "sizing-overload.svg").write_text(draw_overload(overload), encoding="utf-8")


if __name__ == "__main__":
    main()
