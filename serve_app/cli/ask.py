"""``quorumsql ask``: asks one question of the running service or in this process.

Prints a table and the reasons on the terminal. With ``--format`` it writes only the rows to a file
or to standard output, for other programs, and the rest to standard error.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated
from urllib.parse import unquote

import typer
from rich.markup import escape

from quorumsql.contract import AnsweredResponse, QueryRequest
from quorumsql.wire import Export, NoRows
from serve_app.cli.answers import print_answer
from serve_app.cli.context import CliContext
from serve_app.cli.output import (
    Output,
    prints,
    render_json,
    wants_only_json,
    write_document,
    write_text,
)
from serve_app.cli.service_or_process import (
    AnswerTextOption,
    DatabaseOption,
    InProcessOption,
    PrincipalOption,
    UrlOption,
    open_answering,
)
from serve_app.cli.terminal import ERRORS
from serve_app.http.formats import Format, find_format

# The exit code if there is no answer with rows.
_NO_ROWS = 2


class OutputFormat(StrEnum):
    """A table for people; the whole answer as JSON; the rows in each of ``formats.FORMATS``."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"
    JSONL = "jsonl"
    PARQUET = "parquet"
    ARROW = "arrow"


@prints
def ask(
    context: typer.Context,
    question: Annotated[str, typer.Argument(help="The question in plain language.")],
    evidence: Annotated[str, typer.Option(help="Additional knowledge, such as a definition.")] = "",
    tables: Annotated[
        str, typer.Option(help="Tables that the query must read, with commas between them.")
    ] = "",
    database: DatabaseOption = None,
    k: Annotated[
        int | None,
        typer.Option(help="How many candidates to sample; 0: as many as the question needs."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed; the same seed repeats a run.")] = None,
    max_rows: Annotated[int | None, typer.Option(help="Most rows to return.")] = None,
    url: UrlOption = "",
    as_: PrincipalOption = "",
    in_process: InProcessOption = False,
    pick: Annotated[
        str,
        typer.Option(
            metavar="QUERY",
            help="Run this query, which an answer that was not sure gave as an interpretation.",
        ),
    ] = "",
    session: Annotated[
        str | None,
        typer.Option(help="The conversation: an id that you choose, or new."),
    ] = None,
    answer_text: AnswerTextOption = None,
    output_format: Annotated[
        OutputFormat,
        typer.Option("--format", help="table; json: the whole answer; others: the rows."),
    ] = OutputFormat.TABLE,
    output: Annotated[Path | None, typer.Option(help="The file to write to.")] = None,
    spreadsheet_safe: Annotated[
        bool,
        typer.Option(
            "--spreadsheet-safe", help="In CSV, put an apostrophe before possible formulas."
        ),
    ] = False,
) -> Output:
    """Ask a question and see the SQL, why it won, and the rows."""
    cli: CliContext = context.obj
    format_ = find_format(output_format)
    _check_output(output_format, format_, output)
    request = QueryRequest(
        question=question,
        evidence=evidence,
        tables=split_names(tables),
        database=database,
        k=k,
        seed=seed,
        max_rows=max_rows,
        session=session,
        chosen_sql=pick,
        answer_text=answer_text.value if answer_text else None,
        trace=format_ is None,
        spreadsheet_safe=spreadsheet_safe,
    )
    with open_answering(
        cli,
        request.database,
        url=url,
        principal=as_,
        in_process=in_process,
        quiet=format_ is not None,
    ) as answering:
        if format_ is not None:
            return _build_export(answering.export(request, format_), output)
        start = time.perf_counter()
        answer = answering.ask(request)
    seconds = time.perf_counter() - start
    if output is not None:
        output.write_text(render_json(answer) + "\n", encoding="utf-8")

    def render() -> None:
        if output_format == OutputFormat.TABLE:
            print_answer(answer, seconds=seconds)
        elif output is None:
            write_document(answer)

    return Output(answer, render, 0 if isinstance(answer, AnsweredResponse) else _NO_ROWS)


def split_names(text: str) -> list[str]:
    """The names between commas.

    >>> split_names("orders, crm.people")
    ['orders', 'crm.people']
    """
    return [name.strip() for name in text.split(",") if name.strip()]


def _check_output(name: OutputFormat, format_: Format | None, output: Path | None) -> None:
    if name == OutputFormat.TABLE and output is not None:
        raise typer.BadParameter("--output needs a --format: the table is for the terminal.")
    if format_ is not None and format_.is_binary and output is None and sys.stdout.isatty():
        raise typer.BadParameter(f"{name} is not for the terminal: name a file with --output.")
    if format_ is not None and output is None and wants_only_json():
        raise typer.BadParameter("--json describes the rows in a file: name one with --output.")


def _build_export(exported: Export | NoRows, output: Path | None) -> Output:
    """Writes the rows to ``output`` or standard output, all else to standard error."""
    if isinstance(exported, NoRows):
        refused = {"outcome": exported.outcome, "reason": exported.reason}
        return Output(refused, lambda: _print_reason(exported), _NO_ROWS)
    headers = exported.headers
    if output is not None:
        output.write_bytes(exported.content)

    def render() -> None:
        if output is None:
            _write_rows(exported.content)
        _print_headers(headers)

    document = {
        "outcome": "answered",
        "file": output,
        "sql": unquote(headers.get("QuorumSQL-SQL", "")),
        "confidence": float(headers["QuorumSQL-Confidence"]),
        "quorum": headers["QuorumSQL-Quorum"] == "true",
        "truncated": headers["QuorumSQL-Truncated"] == "true",
        "cut_cells": int(headers["QuorumSQL-Cut-Cells"]),
    }
    return Output(document, render)


def _write_rows(content: bytes) -> None:
    """Writes rows to standard output: as they are, but to a terminal no unsafe characters."""
    if sys.stdout.isatty():
        write_text(content.decode())
    else:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()


def _print_reason(exported: NoRows) -> None:
    ERRORS.print(f"[bold yellow]{exported.outcome}[/]: {escape(exported.reason)}", highlight=False)


def _print_headers(headers: Mapping[str, str]) -> None:
    if rewritten := headers.get("QuorumSQL-Rewritten"):
        ERRORS.print(f"Understood as: {unquote(rewritten)}", highlight=False, markup=False)
    if notes := headers.get("QuorumSQL-Notes"):
        ERRORS.print(f"! {unquote(notes)}", highlight=False, markup=False)
    if sql := headers.get("QuorumSQL-SQL"):
        ERRORS.print(unquote(sql), highlight=False, markup=False)
    quorum = "a quorum" if headers["QuorumSQL-Quorum"] == "true" else "no quorum"
    ERRORS.print(f"confidence {headers['QuorumSQL-Confidence']}, {quorum}", highlight=False)
    if headers["QuorumSQL-Truncated"] == "true":
        ERRORS.print("[yellow]There are more rows than these.[/]")
    if headers["QuorumSQL-Cut-Cells"] != "0":
        ERRORS.print(f"[yellow]{headers['QuorumSQL-Cut-Cells']} cells are cut short.[/]")
