"""Shows the progress of a question that is answered in this process."""

from __future__ import annotations

from collections.abc import Callable

from nl2sql.answers import Answer
from nl2sql.progress import observed_by
from nl2sql.protocols import Answerer
from nl2sql.types import Progress, Question
from serve_app.cli.terminal import show_progress


async def answer_observed(answerer: Answerer, question: Question) -> Answer:
    """The answer, its progress on the terminal meanwhile."""
    with show_progress() as show, observed_by(_Observer(show)):
        return await answerer.answer(question)


class _Observer:
    def __init__(self, show: Callable[[Progress], None]) -> None:
        self.observe = show
