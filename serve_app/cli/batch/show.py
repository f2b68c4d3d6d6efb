"""``batch status`` and ``batch report``: how far a job is, and what came of it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer
from rich import box
from rich.markup import escape
from rich.table import Table

from serve_app.batch.figures import Progress, ProgressReader, Report, build_report, render_duration
from serve_app.batch.job import open_job
from serve_app.batch.storage import open_folder
from serve_app.cli.output import Output, prints
from serve_app.cli.terminal import CONSOLE

_LONGEST_REASON = 100

JobFolder = Annotated[str, typer.Argument(metavar="OUTPUT", help="The job's folder.")]


@prints
def status(output: JobFolder) -> Output:
    """Show how far a job is: its rate, the time left, and the counts by outcome.

    Exits with 1 while questions have no row.
    """
    progress = ProgressReader(open_job(open_folder(output))).read()
    return Output(progress, lambda: _print_progress(progress), 0 if progress.is_complete else 1)


def _print_progress(progress: Progress) -> None:
    mark = "[green]✓[/] complete:" if progress.is_complete else "[yellow]…[/]"
    CONSOLE.print(f"{mark} {escape(progress.render())}", highlight=False, soft_wrap=True)
    if progress.latest is not None and not progress.is_complete:
        age = (datetime.now(UTC) - progress.latest).total_seconds()
        CONSOLE.print(f"Latest results: {render_duration(max(age, 0))} ago.", highlight=False)


@prints
def report(output: JobFolder) -> Output:
    """Show outcomes, errors, times and tokens of a job."""
    found = build_report(open_job(open_folder(output)))
    return Output(found, lambda: _print_report(found))


def _print_report(found: Report) -> None:
    for line in render_report(found):
        CONSOLE.print(line, highlight=False, soft_wrap=True)
    CONSOLE.print(_build_table(found))


def render_report(found: Report) -> list[str]:
    """The lines of the report, with rich's markup."""
    lines = [f"{found.done:,} of {found.total:,} questions"]
    lines += [f"  {count:,} {name}" for name, count in sorted(found.outcomes.items())]
    if found.mean_confidence is not None and found.quorum_share is not None:
        lines.append(
            f"answers: mean confidence {found.mean_confidence:.2f}, "
            f"{found.quorum_share:.1%} with a quorum"
        )
    if found.median_s is not None and found.p95_s is not None:
        lines.append(f"a question: median {found.median_s:.2f} s, 95 % within {found.p95_s:.2f} s")
    lines.append(
        f"tokens: {found.prompt_tokens:,} of prompts, {found.completion_tokens:,} of completions"
    )
    lines += [f"model: {escape(model)}" for model in found.models]
    for database, versions in found.index_versions.items():
        lines.append(f"index of {escape(database)}: {escape(', '.join(versions))}")
    for name, count in sorted(found.errors.items()):
        reason = (found.reasons[name] or "")[:_LONGEST_REASON]
        lines.append(f"[yellow]{escape(name)}[/] {count:,}: {escape(reason)}")
    return lines


def _build_table(found: Report) -> Table:
    outcomes = sorted(found.outcomes)
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("database")
    for outcome in outcomes:
        table.add_column(outcome, justify="right")
    for database, counts in sorted(found.databases.items()):
        cells = (f"{counts.get(outcome, 0):,}" for outcome in outcomes)
        table.add_row(escape(database or "(default)"), *cells)
    return table
