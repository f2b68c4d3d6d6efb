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
from serve_app.cli.context import CliContext, split_list
from serve_app.cli.output import (
    Output,
    prints,
    wants_only_json,
    write_text,
)
from serve_app.cli.service_or_process import (
    AnswerTextOption,
    DatabaseOption,
    InProcessOption,
    PrincipalOption,
    UrlOption,
    ask_showing_progress,
    open_client,
)
from serve_app.cli.terminal import ERRORS
from serve_app.http.formats import Format, find_format

# The exit code if there is no answer with rows.
_NO_ROWS = 2


class RowFormat(StrEnum):
    """The names of ``formats.FORMATS``."""

    CSV = "csv"
    MARKDOWN = "markdown"
    XLSX = "xlsx"


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
    row_format: Annotated[
        RowFormat | None,
        typer.Option("--format", help="Write only the rows, in this format."),
    ] = None,
    output: Annotated[Path | None, typer.Option(help="The file for the rows.")] = None,
    spreadsheet_safe: Annotated[
        bool,
        typer.Option(
            "--spreadsheet-safe",
            help="CSV for Excel: a byte order mark, an apostrophe before possible formulas.",
        ),
    ] = False,
) -> Output:
    """Ask a question and see the SQL, why it won, and the rows."""
    cli: CliContext = context.obj
    format_ = _choose_format(row_format, output)
    request = QueryRequest(
        question=question,
        evidence=evidence,
        tables=split_list(tables),
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
    with open_client(
        cli,
        request.database,
        url=url,
        principal=as_,
        in_process=in_process,
        quiet=format_ is not None,
    ) as client:
        if format_ is not None:
            return _export(client.export(request, format_.media_type), output)
        start = time.perf_counter()
        answer = ask_showing_progress(client, request)
    seconds = time.perf_counter() - start
    code = 0 if isinstance(answer, AnsweredResponse) else _NO_ROWS
    return Output(answer, lambda: print_answer(answer, seconds=seconds), code)


def _choose_format(name: RowFormat | None, output: Path | None) -> Format | None:
    """The format of the rows; None for the whole answer. Raises BadParameter."""
    if name is None:
        if output is not None:
            raise typer.BadParameter("--output needs a --format: it is the file for the rows.")
        return None
    if wants_only_json():
        raise typer.BadParameter("--json is the whole answer, --format only its rows: give one.")
    format_ = find_format(name)
    assert format_ is not None  # RowFormat names those there are
    if format_.is_binary and output is None and sys.stdout.isatty():
        raise typer.BadParameter(f"{name} is not for the terminal: name a file with --output.")
    return format_


def _export(exported: Export | NoRows, output: Path | None) -> Output:
    """Writes the rows to ``output`` or standard output, all else to standard error."""
    if isinstance(exported, NoRows):
        return Output(None, lambda: _print_reason(exported), _NO_ROWS)
    if output is None:
        _write_rows(exported.content)
    else:
        output.write_bytes(exported.content)
    return Output(None, lambda: _print_headers(exported.headers))


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
