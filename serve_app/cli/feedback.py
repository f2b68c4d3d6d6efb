"""``quorumsql feedback``: says of the last answer, or of one that is named, whether it is right."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from serve_app.background import service_url
from serve_app.cli.context import CliContext
from serve_app.cli.terminal import CONSOLE
from serve_app.client import post_feedback
from serve_app.feedback import FeedbackRequest
from serve_app.last_answer import LastAnswer, recall_answer

_SAID = {
    "stored": "It is an example now",
    "known": "It was an example already",
    "removed": "It is no example any more",
    "recorded": "Noted",
}


class Verdict(StrEnum):
    """Whether the query answers the question."""

    RIGHT = "right"
    WRONG = "wrong"


def feedback(
    context: typer.Context,
    verdict: Annotated[Verdict, typer.Argument(help="Whether the query answers the question.")],
    correction: Annotated[str, typer.Option(help="Where it is wrong: the right query.")] = "",
    question: Annotated[str, typer.Option(help="The question; default: the last one.")] = "",
    sql: Annotated[str, typer.Option(help="Its query; default: the last answer's.")] = "",
    database: Annotated[str | None, typer.Option(help="The database it is about.")] = None,
    as_: Annotated[
        str, typer.Option("--as", help="Who says so; default: who asked, or the local principal.")
    ] = "",
    url: Annotated[str, typer.Option(help="The service; default: the one configured.")] = "",
) -> None:
    """Say whether an answer is right: a right one is shown to the model as an example."""
    cli: CliContext = context.obj
    if bool(question) != bool(sql):
        raise typer.BadParameter("Name both --question and --sql, or neither.")
    answer = (
        LastAnswer(cli.settings.database_name(database), question, sql, "")
        if question
        else recall_answer(cli.settings.home)
    )
    name = as_ or answer.principal
    request = FeedbackRequest(
        question=answer.question,
        sql=answer.sql,
        verdict=verdict.value,
        correction=correction or None,
        database=answer.database,
    )
    token = cli.settings.identity.read_token(name) if name else ""
    taken = post_feedback(url or service_url(cli.settings), request.model_dump(), token=token)
    example = f" ({taken['example']})" if taken["example"] else ""
    CONSOLE.print(f"{_SAID[taken['outcome']]}{example}.", highlight=False, markup=False)
