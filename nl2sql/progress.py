"""Tells an observer how far its question is. Without one it costs nothing.

The observer stands in a context variable, as in tracing: it belongs to one question, is of interest
at every depth from the pipeline to the engine, and changes no answer. Tasks that a question starts
inherit it; what lives behind a deployment handle does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace

from nl2sql.protocols import Observer
from nl2sql.types import Progress, QuestionEvent


class _Watch:
    """What is known of one question."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self._now = Progress("")
        # The model's requests of this stage, some of them at the same time.
        self._requests: dict[object, Progress] = {}

    def enter(self, stage: str, total: int) -> None:
        self._requests.clear()
        self._tell(Progress(stage, total=total))

    def count(self) -> None:
        self._tell(replace(self._now, done=self._now.done + 1))

    def sample(self, request: object, progress: Progress) -> None:
        self._requests[request] = progress
        known = self._requests.values()
        self._tell(
            Progress(
                self._now.stage,
                done=sum(each.done for each in known),
                total=sum(each.total for each in known),
                prompt_tokens_read=sum(each.prompt_tokens_read for each in known),
                prompt_tokens=sum(each.prompt_tokens for each in known),
                answer_tokens=sum(each.answer_tokens for each in known),
            )
        )

    def report(self, event: QuestionEvent) -> None:
        self._observer.observe(event)

    def _tell(self, progress: Progress) -> None:
        if progress != self._now:
            self._now = progress
            self._observer.observe(progress)


_WATCH: ContextVar[_Watch | None] = ContextVar("watch", default=None)


@contextmanager
def observed_by(observer: Observer | None) -> Iterator[None]:
    """Inside, ``observer`` is told of everything; None: nobody is."""
    token = _WATCH.set(None if observer is None else _Watch(observer))
    try:
        yield
    finally:
        _WATCH.reset(token)


def is_observed() -> bool:
    """Whether anybody is told; who would have to work for a report asks first."""
    return _WATCH.get() is not None


def enter_stage(stage: str, total: int = 0) -> None:
    """A stage begins, with ``total`` candidates to work on."""
    if (watch := _WATCH.get()) is not None:
        watch.enter(stage, total)


def count_done() -> None:
    """The stage is done with one more candidate."""
    if (watch := _WATCH.get()) is not None:
        watch.count()


def report(event: QuestionEvent) -> None:
    """Something happened to the question."""
    if (watch := _WATCH.get()) is not None:
        watch.report(event)


def report_sampling(request: object, progress: Progress) -> None:
    """How far the model is with one request, named by any object; its stage is the one entered."""
    if (watch := _WATCH.get()) is not None:
        watch.sample(request, progress)
