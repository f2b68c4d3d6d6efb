"""``quorumsql ask``: one question, answered by the running service or in this process.

For the terminal a table and the reasons; with ``--format`` the rows alone, for another program, to
a file or to standard output, and what has to be said with them to standard error.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated
from urllib.parse import unquote

import typer
from rich.markup import escape

from nl2sql.answers import Answer, Answered
from nl2sql.contract import AnsweredResponse, ClarifyResponse, QueryRequest
from nl2sql.contract.rendering import build_response
from serve_app.cli.answer_text import AnswerTextSource
from serve_app.cli.context import CliContext
from serve_app.cli.last_answer import (
    LastInterpretations,
    build_last_answer,
    recall_interpretations,
    remember_answer,
    remember_interpretations,
)
from serve_app.cli.observing import answer_observed
from serve_app.cli.terminal import (
    CONSOLE,
    ERRORS,
    TerminalReporter,
    print_answer,
    show_progress,
)
from serve_app.client import Export, NoRows, ServiceClient
from serve_app.http.formats import Format, describe_answer, export_answer, find_format
from serve_app.operations.background import service_url
from serve_app.reporting import Reporter, Silence
from serve_app.service.query_service import build_question


class OutputFormat(StrEnum):
    """For people; the whole answer; and the rows in each of ``formats.FORMATS``."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"
    JSONL = "jsonl"
    PARQUET = "parquet"
    ARROW = "arrow"


def ask(
    context: typer.Context,
    question: Annotated[str, typer.Argument(help="The question in plain language.")] = "",
    evidence: Annotated[
        str, typer.Option(help="What you know besides, such as a definition.")
    ] = "",
    database: Annotated[str | None, typer.Option(help="The database it is about.")] = None,
    k: Annotated[
        int | None,
        typer.Option(help="How many candidates to sample; 0: as many as the question needs."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed; a run repeats with it.")] = None,
    max_rows: Annotated[int | None, typer.Option(help="Most rows to return.")] = None,
    url: Annotated[str, typer.Option(help="The service; default: the one configured.")] = "",
    as_: Annotated[
        str, typer.Option("--as", help="The principal who asks; default: the local one.")
    ] = "",
    in_process: Annotated[
        bool, typer.Option("--in-process", help="Without a service: load the model here.")
    ] = False,
    pick: Annotated[
        int,
        typer.Option(
            help="Run this interpretation of the last question that was given back.", min=0
        ),
    ] = 0,
    session: Annotated[
        str | None,
        typer.Option(help="The conversation it belongs to: an id of yours, or new."),
    ] = None,
    answer_text: Annotated[
        AnswerTextSource | None,
        typer.Option(help="Who puts the answer in words; default: as configured."),
    ] = None,
    output_format: Annotated[
        OutputFormat,
        typer.Option("--format", help="table; json: the whole answer; others: the rows."),
    ] = OutputFormat.TABLE,
    output: Annotated[Path | None, typer.Option(help="The file to write to.")] = None,
    spreadsheet_safe: Annotated[
        bool,
        typer.Option(
            "--spreadsheet-safe", help="In CSV, an apostrophe before what could be a formula."
        ),
    ] = False,
) -> None:
    """Ask a question and see the SQL, why it won, and the rows."""
    cli: CliContext = context.obj
    format_ = find_format(output_format)
    _check_output(output_format, format_, output)
    picked = ""
    if pick:
        last = recall_interpretations(cli.settings.home)
        question, database, as_ = last.question, last.database, last.principal
        picked = last.pick(pick)
    elif not question:
        raise typer.BadParameter("Ask a question, or --pick an interpretation of the last one.")
    request = QueryRequest(
        question=question,
        evidence=evidence,
        database=database,
        k=k,
        seed=seed,
        max_rows=max_rows,
        picked=picked,
        session=session,
        answer_text=answer_text.value if answer_text else None,
        trace=format_ is None,
        spreadsheet_safe=spreadsheet_safe,
    )
    token = cli.settings.identity.read_token(as_) if as_ and not in_process else ""
    client = ServiceClient(url or service_url(cli.settings), token)
    if format_ is not None:
        if in_process:
            given = asyncio.run(_ask_here(cli, request, as_, Silence()))
            exported = _build_export(given, format_, spreadsheet_safe)
        else:
            exported = client.export(request, format_.media_type)
        _write_export(exported, output)
        return
    start = time.perf_counter()
    if in_process:
        given = asyncio.run(_ask_here(cli, request, as_, TerminalReporter()))
        answer = build_response(given, trace=True)
    else:
        with show_progress() as show:
            answer = client.query(request, show=show)
    if isinstance(answer, AnsweredResponse):
        remember_answer(cli.settings.home, build_last_answer(answer, as_))
    if isinstance(answer, ClarifyResponse):
        queries = tuple(chosen.sql for chosen in answer.interpretations)
        remember_interpretations(
            cli.settings.home, LastInterpretations(answer.database, answer.question, queries, as_)
        )
    if output is not None:
        text = json.dumps(answer.model_dump(), ensure_ascii=False)
        output.write_text(text + "\n", encoding="utf-8")
    elif output_format == OutputFormat.JSON:
        CONSOLE.print_json(json.dumps(answer.model_dump()))
    else:
        print_answer(answer, seconds=time.perf_counter() - start)
    if not isinstance(answer, AnsweredResponse):
        raise typer.Exit(2)


def _check_output(name: OutputFormat, format_: Format | None, output: Path | None) -> None:
    if name == OutputFormat.TABLE and output is not None:
        raise typer.BadParameter("--output needs a --format: the table is for the terminal.")
    if format_ is not None and format_.is_binary and output is None and sys.stdout.isatty():
        raise typer.BadParameter(f"{name} is not for the terminal: name a file with --output.")


def _build_export(answer: Answer, format_: Format, spreadsheet_safe: bool) -> Export | NoRows:
    if not isinstance(answer, Answered):
        return NoRows(build_response(answer, trace=False).outcome, answer.reason)
    content = export_answer(answer, format_, spreadsheet_safe=spreadsheet_safe)
    return Export(content, describe_answer(answer))


def _write_export(exported: Export | NoRows, output: Path | None) -> None:
    """The rows to ``output`` or standard output, all else to standard error."""
    if isinstance(exported, NoRows):
        ERRORS.print(
            f"[bold yellow]{exported.outcome}[/]: {escape(exported.reason)}", highlight=False
        )
        raise typer.Exit(2)
    if output is not None:
        output.write_bytes(exported.content)
    else:
        sys.stdout.buffer.write(exported.content)
        sys.stdout.buffer.flush()
    _print_headers(exported.headers)


def _print_headers(headers: Mapping[str, str]) -> None:
    if told := headers.get("QuorumSQL-Rewritten"):
        ERRORS.print(f"Understood as: {unquote(told)}", highlight=False, markup=False)
    if told := headers.get("QuorumSQL-Notes"):
        ERRORS.print(f"! {unquote(told)}", highlight=False, markup=False)
    ERRORS.print(unquote(headers.get("QuorumSQL-SQL", "")), highlight=False, markup=False)
    quorum = "a quorum" if headers["QuorumSQL-Quorum"] == "true" else "no quorum"
    ERRORS.print(f"confidence {headers['QuorumSQL-Confidence']}, {quorum}", highlight=False)
    if headers["QuorumSQL-Truncated"] == "true":
        ERRORS.print("[yellow]There are more rows than these.[/]")
    if headers["QuorumSQL-Cut-Cells"] != "0":
        ERRORS.print(f"[yellow]{headers['QuorumSQL-Cut-Cells']} cells are cut short.[/]")


async def _ask_here(
    cli: CliContext, request: QueryRequest, name: str, reporter: Reporter
) -> Answer:
    # Only what runs in this process needs what takes seconds to import.
    from serve_app.composition.local import open_parts
    from serve_app.operations.preparation import prepare

    settings = cli.settings
    question = build_question(request, settings, settings.identity.principal(name))
    wiring = await prepare(settings, reporter, databases=[question.database])
    async with open_parts(wiring, reporter) as parts:
        return await answer_observed(parts.build_pipeline(settings), question)
