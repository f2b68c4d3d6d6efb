"""``eval report``, ``eval compare``, ``eval list``: what runs amount to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from evaluation.figures import Estimate, PairedComparison
from evaluation.metrics import summarize
from evaluation.pairing import compare_runs
from evaluation.report import Run, render_markdown, render_page
from evaluation.run_folder import find_runs, read_run
from nl2sql.errors import SettingsError
from serve_app.cli.evaluate.options import DEFAULT_OUTPUT
from serve_app.cli.terminal import CONSOLE

_TABLE_WIDTH = 105

Folders = Annotated[list[Path], typer.Argument(help="Run folders.", metavar="RUN…")]


def report(
    runs: Folders,
    output: Annotated[
        Path, typer.Option(help="Where to write, without an ending: .md and .html are added.")
    ] = Path("report"),
) -> None:
    """Write a Markdown report and a self-contained HTML page with plots and every question."""
    loaded = sorted((load_run(folder) for folder in runs), key=report_order)
    comparisons = compare_within(loaded)
    output.parent.mkdir(parents=True, exist_ok=True)
    for ending, render in ((".md", render_markdown), (".html", render_page)):
        path = output.with_name(output.name + ending)
        path.write_text(render(loaded, comparisons), encoding="utf-8")
        CONSOLE.print(f"[green]✓[/] {path}", highlight=False)


def compare(
    left: Annotated[Path, typer.Argument(help="A run folder.")],
    right: Annotated[Path, typer.Argument(help="The run folder to hold against it.")],
) -> None:
    """Compare two runs question by question: McNemar's test, and the questions that flipped."""
    one, other = load_run(left), load_run(right)
    found = compare_runs(one.name, one.records, other.name, other.records)
    if not found.shared:
        raise SettingsError("The runs share no question.", hint="`eval list` shows the runs.")
    CONSOLE.print(
        f"{found.right} minus {found.left} over {found.shared} questions: "
        f"{show_estimate(found.difference, signed=True)}, McNemar p = {found.p_value:.3g}",
        highlight=False,
    )
    for title, ids in (("gained", found.gained), ("lost", found.lost)):
        CONSOLE.print(f"{title} ({len(ids)}): {', '.join(ids) or 'none'}", highlight=False)


def list_runs(
    folder: Annotated[Path, typer.Argument(help="The folder that holds the runs.")] = (
        DEFAULT_OUTPUT
    ),
) -> None:
    """List the runs there are, with their figures."""
    found = find_runs(folder)
    if not found:
        CONSOLE.print(f"No runs in {folder}. Make one: quorumsql eval run demo_erp")
        return
    print_runs(found)
    for path in found:
        CONSOLE.print(str(path), highlight=False, soft_wrap=True)


def load_run(folder: Path) -> Run:
    """The run in a folder with its figures. Raises SettingsError when it holds none."""
    manifest, records = read_run(folder)
    threshold = float(manifest.configuration["ranking"]["min_confidence"])
    summary = summarize(records, seconds=manifest.seconds, threshold=threshold)
    return Run(folder.name, manifest, records, summary)


def compare_within(runs: Sequence[Run]) -> list[PairedComparison]:
    """Each run against the first of its own benchmark: the baseline where there is one."""
    first: dict[tuple[str, bool], Run] = {}
    comparisons = []
    for run in runs:
        key = (run.manifest.benchmark, run.manifest.evidence)
        base = first.setdefault(key, run)
        if base is not run:
            comparisons.append(compare_runs(base.name, base.records, run.name, run.records))
    return comparisons


def report_order(run: Run) -> tuple[str, bool, bool, int, bool]:
    """By benchmark: the baseline, then by K, what is whole before what lacks a stage."""
    manifest = run.manifest
    return (
        manifest.benchmark,
        manifest.evidence,
        not manifest.baseline,
        manifest.k,
        manifest.is_ablated,
    )


def print_runs(folders: Sequence[Path]) -> None:
    """A line a run, and by name what could not be counted."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("benchmark", overflow="fold")
    for column in ("variant", "right", "95 %", "first", "oracle", "execute", "q/min"):
        table.add_column(column, no_wrap=True)
    runs = sorted((load_run(folder) for folder in folders), key=report_order)
    for run in runs:
        summary, manifest = run.summary, run.manifest
        asked = f" {len(run.records)}/{len(manifest.question_ids)}"
        table.add_row(
            f"{manifest.benchmark}{' +evidence' if manifest.evidence else ''}",
            f"{manifest.variant}{'' if manifest.finished else asked}",
            f"{summary.accuracy.value:.1%} of {summary.counted}",
            f"{summary.accuracy.low * 100:.1f} to {summary.accuracy.high:.1%}",
            f"{summary.first.value:.1%}",
            f"{summary.oracle.value:.1%}",
            f"{summary.executes.value:.1%}",
            f"{summary.questions_per_minute:.1f}",
        )
    # Rather a line too long than figures cut off.
    Console(width=max(CONSOLE.width, _TABLE_WIDTH)).print(table)
    named = dict.fromkeys(
        (kind, name, reason)
        for run in runs
        for kind, problems in (
            ("gold fails", run.summary.gold_failed),
            ("error", run.summary.errors),
        )
        for name, reason in problems
    )
    for kind, name, reason in named:
        CONSOLE.print(f"[red]{kind}[/] {name}: {escape(reason)}", highlight=False)


def show_estimate(estimate: Estimate, *, signed: bool = False) -> str:
    """The value with its interval."""
    sign = "+" if signed else ""
    return (
        f"{estimate.value:{sign}.1%} "
        f"(95 % from {estimate.low:{sign}.1%} to {estimate.high:{sign}.1%})"
    )
