"""``quorumsql ask``: asks one question of the running service or in this process.

Prints a table and the reasons on the terminal. With ``--output`` it writes the rows to a file.
"""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated
from urllib.parse import unquote

import typer

from quorumsql.client import Client
from quorumsql.contract import AnsweredResponse, QueryRequest
from quorumsql.wire import NoRows
from serve_app.cli.answers import print_answer
from serve_app.cli.context import CliContext
from serve_app.cli.output import Output, prints
from serve_app.cli.service_or_process import (
    AnswerTextOption,
    CountOption,
    DatabaseOption,
    InProcessOption,
    PrincipalOption,
    SeedOption,
    UrlOption,
    ask_showing_progress,
    open_client,
    read_count,
)
from serve_app.http.formats import FORMATS, Format

# The exit code if there is no answer with rows.
_NO_ROWS = 2


@prints
def ask(
    context: typer.Context,
    question: Annotated[str, typer.Argument(help="The question in plain language.")],
    evidence: Annotated[str, typer.Option(help="Additional knowledge, such as a definition.")] = "",
    database: DatabaseOption = None,
    k: CountOption = None,
    seed: SeedOption = None,
    max_rows: Annotated[int | None, typer.Option(help="Most rows to return.", min=1)] = None,
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
        str | None, typer.Option(help="The conversation: an id that you choose, or new.")
    ] = None,
    answer_text: AnswerTextOption = None,
    output: Annotated[
        Path | None,
        typer.Option(help="Write the rows to this file, whose ending is .csv, .md or .xlsx."),
    ] = None,
) -> Output:
    """Ask a question and see the SQL, why it won, and the rows."""
    cli: CliContext = context.obj
    if output is not None:
        _choose_format(output)  # reports a wrong name before anything is asked
    request = QueryRequest(
        question=question,
        evidence=evidence,
        database=database,
        k=read_count(k),
        seed=seed,
        max_rows=max_rows,
        session=session,
        chosen_sql=pick,
        answer_text=answer_text,
        trace=output is None,
    )
    with open_client(
        cli, request.database, url=url, principal=as_, in_process=in_process
    ) as client:
        if output is not None:
            return _export(client, request, output)
        start = time.perf_counter()
        answer = ask_showing_progress(client, request)
    seconds = time.perf_counter() - start
    code = 0 if isinstance(answer, AnsweredResponse) else _NO_ROWS
    return Output(answer, lambda: print_answer(answer, seconds=seconds), code)


def _choose_format(output: Path) -> Format:
    """The format that the ending of a file names. Raises BadParameter."""
    for format_ in FORMATS:
        if output.suffix == f".{format_.suffix}":
            return format_
    endings = ", ".join(f".{format_.suffix}" for format_ in FORMATS)
    raise typer.BadParameter(f"--output {output}: its ending names the format: {endings}.")


def _export(client: Client, request: QueryRequest, output: Path) -> Output:
    """Writes the rows to ``output``, and prints what is known of them."""
    exported = client.export(request, _choose_format(output).media_type)
    if isinstance(exported, NoRows):
        return Output(asdict(exported), exit_code=_NO_ROWS)
    output.write_bytes(exported.content)
    headers = exported.headers
    document = {
        "file": output,
        "sql": unquote(headers.get("QuorumSQL-SQL", "")),
        "confidence": float(headers["QuorumSQL-Confidence"]),
        "quorum": headers["QuorumSQL-Quorum"] == "true",
        "truncated": headers["QuorumSQL-Truncated"] == "true",
        "cut_cells": int(headers["QuorumSQL-Cut-Cells"]),
        "notes": unquote(headers.get("QuorumSQL-Notes", "")),
    }
    return Output(document)
