"""``quorumsql batch``: answers a file of questions as one job, and shows what came of it."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.markup import escape

from nl2sql.errors import SettingsError
from nl2sql.settings import Settings
from serve_app.batch.figures import BatchProgress, ProgressReader, render_duration
from serve_app.batch.job import (
    Job,
    JobSpec,
    check_principals,
    check_same,
    create_job,
    find_job,
    open_job,
)
from serve_app.batch.questions import BatchQuestion, describe_files, read_files
from serve_app.batch.results import ResultFormat
from serve_app.batch.running import Sizes, run_job
from serve_app.batch.storage import Folder, open_folder
from serve_app.cli.context import CliContext
from serve_app.cli.output import Output, build_json, prints, say
from serve_app.cli.service_or_process import PrincipalOption
from serve_app.cli.terminal import CONSOLE, TerminalReporter
from serve_app.composition.wiring import Wiring
from serve_app.operations.preparation import prepare, pull_model

app = typer.Typer(no_args_is_help=True)

_INTERRUPTED = 130
_POOL = re.compile(r"([1-9][0-9]{0,3})(?::([1-9][0-9]{0,3}))?")
_INTERVAL_S = 15.0


@app.command("run")
@prints
def run(
    context: typer.Context,
    input_: Annotated[
        str,
        typer.Argument(
            metavar="INPUT",
            help="A file or folder of JSON lines, CSV or Parquet with a column `question`: a path "
            "or a URI such as s3://bucket/file.",
        ),
    ],
    output: Annotated[
        str, typer.Argument(metavar="OUTPUT", help="The job's folder, as a path or a URI.")
    ],
    results: Annotated[
        ResultFormat, typer.Option(help="The format of the results.")
    ] = ResultFormat.PARQUET,
    database: Annotated[str, typer.Option(help="The database of questions that name none.")] = "",
    k: Annotated[
        int | None, typer.Option(help="Candidates of questions that name no number.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed; the same seed repeats a run.")] = None,
    max_rows: Annotated[int | None, typer.Option(help="Most rows of an answer.")] = None,
    rows: Annotated[
        int,
        typer.Option(help="Rows of each answer to keep; 0: only their fingerprint.", min=0),
    ] = 0,
    as_: PrincipalOption = "",
    service: Annotated[
        str, typer.Option(help="URL of a running service that answers, after people's questions.")
    ] = "",
    workers: Annotated[
        str,
        typer.Option(
            help="Processes that answer questions, as N or LEAST:MOST; default: one for each core."
        ),
    ] = "",
    engines: Annotated[int, typer.Option(help="Language models to load.", min=1)] = 1,
    questions_at_once: Annotated[
        int, typer.Option(help="Questions in flight in each worker.", min=1, max=1024)
    ] = 16,
    block_rows: Annotated[
        int | None,
        typer.Option(
            help="Most questions of a new job that are written, and repeated after an "
            "interruption, together; default: 32, more in a job of more than 64,000.",
            min=1,
            max=100_000,
        ),
    ] = None,
) -> Output:
    """Answer all questions of INPUT. The same command again continues where it stopped.

    RAY_ADDRESS names a cluster to run on; without it, Ray is started on this machine.
    """
    cli: CliContext = context.obj
    settings = cli.settings
    submitter = settings.identity.principal(as_).name
    spec = JobSpec(
        input=input_,
        files=describe_files(input_),
        result_format=results,
        submitter=submitter,
        database=database,
        k=k,
        seed=seed,
        max_rows=max_rows,
        kept_rows=rows,
    )
    sizes = Sizes(parse_pool(workers), engines, questions_at_once, block_rows)
    try:
        job, wiring = _prepare(settings, spec, sizes, open_folder(output), needs_model=not service)
        progress = run_job(
            job,
            wiring,
            sizes,
            service=service,
            follow=_show_progress,
            interval_s=_INTERVAL_S,
            warn=TerminalReporter().warn,
        )
    except KeyboardInterrupt:
        CONSOLE.print("Stopped. The same command continues from here.", highlight=False)
        raise typer.Exit(_INTERRUPTED) from None
    return Output({"output": output, **build_json(progress)}, lambda: _print_end(output, progress))


def _print_end(output: str, progress: BatchProgress) -> None:
    CONSOLE.print(f"[green]✓[/] {escape(progress.render())}", highlight=False)
    CONSOLE.print(f"Results: {output}", highlight=False, soft_wrap=True, markup=False)


def parse_pool(text: str) -> tuple[int, int]:
    """The least and the most workers; without a text, one for each core.

    >>> parse_pool("3"), parse_pool("2:8")
    ((3, 3), (2, 8))
    """
    if not text:
        count = os.cpu_count() or 1
        return count, count
    found = _POOL.fullmatch(text)
    if found is None or (found[2] and int(found[2]) < int(found[1])):
        raise SettingsError(f"--workers {text}: this is not N or LEAST:MOST.")
    return int(found[1]), int(found[2] or found[1])


def _prepare(
    settings: Settings, spec: JobSpec, sizes: Sizes, output: Folder, *, needs_model: bool
) -> tuple[Job, Wiring]:
    """The job, with its questions stored, and the wiring with the databases that it asks."""
    reporter = TerminalReporter()
    job, wiring = find_job(output), Wiring(settings)
    if job is not None:
        check_same(job, spec)
    else:
        job = create_job(
            output, spec, _complete(read_files(spec.input), spec), sizes.choose_block_rows
        )
    check_principals(settings, job)  # before minutes of preparation
    CONSOLE.print(f"{job.stored.total:,} questions.", highlight=False)
    if needs_model and job.list_open_blocks():
        asked = {name or settings.default_database for name in job.stored.databases}
        names = [name for name in settings.databases if name in asked]
        names = names or list(settings.databases)
        wiring = asyncio.run(prepare(settings, reporter, databases=names, strict=False))
        pull_model(settings)
    return job, wiring


def _complete(questions: Iterator[BatchQuestion], spec: JobSpec) -> Iterator[BatchQuestion]:
    for question in questions:
        yield question if question.database else replace(question, database=spec.database)


def _show_progress(progress: BatchProgress) -> None:
    if not progress.is_complete:
        say(progress.render())


@app.command("status")
@prints
def status(
    output: Annotated[str, typer.Argument(metavar="OUTPUT", help="The job's folder.")],
) -> Output:
    """Show how far a job is: its rate, the time left, and the counts by outcome.

    Exits with 1 while questions have no row.
    """
    job = open_job(open_folder(output))
    progress = ProgressReader(job).read()
    code = 0 if progress.is_complete else 1
    return Output(progress, lambda: _print_progress(progress), code)


def _print_progress(progress: BatchProgress) -> None:
    mark = "[green]✓[/] complete:" if progress.is_complete else "[yellow]…[/]"
    CONSOLE.print(f"{mark} {escape(progress.render())}", highlight=False, soft_wrap=True)
    if progress.latest is not None and not progress.is_complete:
        age = (datetime.now(UTC) - progress.latest).total_seconds()
        say(f"Latest results: {render_duration(max(age, 0))} ago.")
