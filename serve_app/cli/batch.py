"""``quorumsql batch``: answers a file of questions as one job."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Annotated

import typer
from rich.markup import escape

from nl2sql.errors import Unavailable
from serve_app.batch.figures import BatchProgress
from serve_app.batch.job import Job, JobSpec, check_same, create_job, find_job
from serve_app.batch.questions import describe_files, read_files
from serve_app.batch.running import choose_block_rows, run_job
from serve_app.batch.storage import Folder, open_folder
from serve_app.cli.context import CliContext
from serve_app.cli.output import Output, build_json, prints, say
from serve_app.cli.service_or_process import (
    CountOption,
    PrincipalOption,
    SeedOption,
    UrlOption,
    read_count,
)
from serve_app.cli.terminal import CONSOLE
from serve_app.operations.background import is_ready, service_url

_INTERRUPTED = 130
_INTERVAL_S = 15.0


@prints
def batch(
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
    database: Annotated[str, typer.Option(help="The database of questions that name none.")] = "",
    k: CountOption = None,
    seed: SeedOption = None,
    max_rows: Annotated[int | None, typer.Option(help="Most rows of an answer.", min=1)] = None,
    rows: Annotated[
        int, typer.Option(help="Rows of each answer to keep; 0: only how many there are.", min=0)
    ] = 0,
    as_: PrincipalOption = "",
    url: UrlOption = "",
    workers: Annotated[
        int, typer.Option(help="Processes that ask the service.", min=1, max=1000)
    ] = 1,
    questions_at_once: Annotated[
        int, typer.Option(help="Questions in flight in each worker.", min=1, max=100)
    ] = 16,
) -> Output:
    """Have the service answer a file of questions as one job. The same command continues it.

    RAY_ADDRESS names a cluster to run on; without it, Ray is started on this machine.
    """
    cli: CliContext = context.obj
    settings = cli.settings
    principal = settings.identity.principal(as_).name
    settings.identity.read_token(principal)  # the workers read it too
    spec = JobSpec(
        input=input_,
        files=describe_files(input_),
        principal=principal,
        database=database,
        k=read_count(k),
        seed=seed,
        max_rows=max_rows,
        kept_rows=rows,
    )
    where = url or service_url(settings)
    try:
        job = _prepare(spec, workers, open_folder(output), where)
        progress = run_job(
            job,
            settings,
            where,
            workers=workers,
            questions_at_once=questions_at_once,
            follow=_show_progress,
            interval_s=_INTERVAL_S,
        )
    except KeyboardInterrupt:
        CONSOLE.print("Stopped. The same command continues from here.")
        raise typer.Exit(_INTERRUPTED) from None
    return Output({"output": output, **build_json(progress)}, lambda: _print_end(output, progress))


def _print_end(output: str, progress: BatchProgress) -> None:
    CONSOLE.print(f"[green]✓[/] {escape(progress.render())}")
    CONSOLE.print(f"Results: {output}", soft_wrap=True, markup=False)


def _prepare(spec: JobSpec, workers: int, output: Folder, url: str) -> Job:
    """The job, with its questions stored. Raises Unavailable if no service can answer them."""
    job = find_job(output)
    if job is not None:
        check_same(job, spec)
    else:
        read = read_files(spec.input)
        questions = (replace(each, database=each.database or spec.database) for each in read)
        job = create_job(output, spec, questions, partial(choose_block_rows, workers=workers))
    CONSOLE.print(f"{job.stored.total:,} questions.")
    if job.list_open_blocks() and not is_ready(url):
        raise Unavailable(
            f"No service is ready at {url}.",
            hint="Start one: quorumsql serve --background; or name another with --url.",
        )
    return job


def _show_progress(progress: BatchProgress) -> None:
    if not progress.is_complete:
        say(progress.render())
