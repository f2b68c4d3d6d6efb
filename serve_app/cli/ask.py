"""``quorumsql ask``: one question, answered by the running service or in this process."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Annotated, Any

import typer

from serve_app.api import QueryRequest, render_answer
from serve_app.cli.context import CliContext
from serve_app.cli.terminal import CONSOLE, TerminalReporter, print_answer
from serve_app.client import post_query
from serve_app.local import open_parts
from serve_app.preparation import prepare
from serve_app.running import service_url
from serve_app.service import build_question


def ask(
    context: typer.Context,
    question: Annotated[str, typer.Argument(help="The question in plain language.")],
    evidence: Annotated[
        str, typer.Option(help="What you know besides, such as a definition.")
    ] = "",
    database: Annotated[str | None, typer.Option(help="The database it is about.")] = None,
    k: Annotated[int | None, typer.Option(help="How many candidates to sample.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed; a run repeats with it.")] = None,
    max_rows: Annotated[int | None, typer.Option(help="Most rows to return.")] = None,
    url: Annotated[str, typer.Option(help="The service; default: the one configured.")] = "",
    as_: Annotated[
        str, typer.Option("--as", help="The principal who asks; default: the local one.")
    ] = "",
    in_process: Annotated[
        bool, typer.Option("--in-process", help="Without a service: load the model here.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the whole answer as JSON.")
    ] = False,
) -> None:
    """Ask a question and see the SQL, why it won, and the rows."""
    cli: CliContext = context.obj
    request = QueryRequest(
        question=question,
        evidence=evidence,
        database=database,
        k=k,
        seed=seed,
        max_rows=max_rows,
        trace=True,
    )
    start = time.perf_counter()
    if in_process:
        answer = asyncio.run(_ask_here(cli, request, as_))
    else:
        token = cli.settings.identity.read_token(as_) if as_ else ""
        answer = post_query(url or service_url(cli.settings), request.model_dump(), token=token)
    seconds = time.perf_counter() - start
    if as_json:
        CONSOLE.print_json(json.dumps(answer))
    else:
        print_answer(answer, seconds=seconds)
    if answer["outcome"] != "answered":
        raise typer.Exit(2)


async def _ask_here(cli: CliContext, request: QueryRequest, name: str) -> dict[str, Any]:
    settings = cli.settings
    question = build_question(request, settings, settings.identity.principal(name))
    reporter = TerminalReporter()
    wiring = await prepare(settings, reporter, databases=[question.database])
    async with open_parts(wiring, reporter) as parts:
        pipeline = parts.build_pipeline(settings)
        return render_answer(await pipeline.answer(question), trace=True)
