"""``feedback right`` and ``feedback wrong``: about the last answer, or a named one."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from quorumsql.client import Client
from quorumsql.contract import FeedbackRequest
from serve_app.cli.context import CliContext
from serve_app.cli.last_answer import LastAnswer, recall_answer
from serve_app.cli.output import Output, prints
from serve_app.cli.service_or_process import DatabaseOption, UrlOption
from serve_app.cli.terminal import CONSOLE
from serve_app.operations.background import service_url

_SAID = {
    "stored": "Stored as an example",
    "known": "Already an example",
    "removed": "Removed from the examples",
    "recorded": "Recorded",
}

Question = Annotated[str, typer.Option(help="The question; default: the last one.")]
Sql = Annotated[str, typer.Option(help="Its query; default: that of the last answer.")]
Sayer = Annotated[
    str, typer.Option("--as", help="The principal; default: who asked, or the local principal.")
]


@prints
def right(
    context: typer.Context,
    question: Question = "",
    sql: Sql = "",
    database: DatabaseOption = None,
    as_: Sayer = "",
    url: UrlOption = "",
) -> Output:
    """Report a right answer: it becomes an example for the model."""
    answer = _choose_answer(context.obj, question, sql, database)
    return _send(context.obj, answer, "right", None, as_, url)


@prints
def wrong(
    context: typer.Context,
    correction: Annotated[str, typer.Option(help="The right query.")] = "",
    question: Question = "",
    sql: Sql = "",
    database: DatabaseOption = None,
    as_: Sayer = "",
    url: UrlOption = "",
) -> Output:
    """Report a wrong answer: it is removed from the examples; a correction becomes one."""
    answer = _choose_answer(context.obj, question, sql, database)
    return _send(context.obj, answer, "wrong", correction or None, as_, url)


def _choose_answer(cli: CliContext, question: str, sql: str, database: str | None) -> LastAnswer:
    if bool(question) != bool(sql):
        raise typer.BadParameter("Name both --question and --sql, or neither.")
    if question:
        return LastAnswer(cli.settings.database_name(database), question, sql, "")
    return recall_answer(cli.settings.home)


def _send(
    cli: CliContext,
    answer: LastAnswer,
    verdict: Literal["right", "wrong"],
    correction: str | None,
    name: str,
    url: str,
) -> Output:
    request = FeedbackRequest(
        question=answer.question,
        sql=answer.sql,
        reference=answer.reference,
        verdict=verdict,
        correction=correction,
        database=None if answer.reference else answer.database,
    )
    name = name or answer.principal
    token = cli.settings.identity.read_token(name) if name else ""
    with Client(url or service_url(cli.settings), token) as client:
        taken = client.feedback(request)
    example = f" ({taken.example})" if taken.example else ""
    told = f"{_SAID[taken.outcome]}{example}."
    return Output(taken, lambda: CONSOLE.print(told, highlight=False, markup=False))
