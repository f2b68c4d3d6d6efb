"""Shows the progress of a question that is answered in this process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from nl2sql.answers import Answer
from nl2sql.progress import observed_by
from nl2sql.protocols import Answerer
from nl2sql.types import Progress, Question
from serve_app.cli.terminal import show_progress


async def answer_observed(answerer: Answerer, question: Question) -> Answer:
    """The answer, its progress on the terminal meanwhile."""
    with show_progress() as show, observed_by(TerminalObserver(show)):
        return await answerer.answer(question)


class TerminalObserver:
    """Hands what it observes to ``show``, as the service's events would."""

    def __init__(self, show: Callable[[Mapping[str, Any]], None]) -> None:
        self._show = show

    def observe(self, progress: Progress) -> None:
        """See ``Observer.observe``."""
        self._show(asdict(progress))
