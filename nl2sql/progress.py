"""Reports the stages of a question to an observer and to a tracer; without them it costs nothing.

Both are kept in context variables: they belong to one question, are needed at every level from the
pipeline to the engine, and change no answer. Tasks that a question starts inherit them; stages
behind a deployment handle do not. Knows no tracing library; ``serve_app`` provides the tracer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field, replace

from nl2sql.answers import QuestionEvent
from nl2sql.protocols import Observer
from nl2sql.types import Progress

_NOTHING = Progress("")


@dataclass(slots=True)
class _Watch:
    """The progress of one question; ``requests`` are the model's of this stage, concurrent ones."""

    observer: Observer
    now: Progress = _NOTHING
    requests: dict[object, Progress] = field(default_factory=dict)

    def show(self, progress: Progress) -> None:
        if progress != self.now:
            self.now = progress
            self.observer.observe(progress)


_WATCH: ContextVar[_Watch | None] = ContextVar("watch", default=None)


@contextmanager
def observed_by(observer: Observer | None) -> Iterator[None]:
    """Inside this context, progress is reported to ``observer``; None: to nobody."""
    token = _WATCH.set(None if observer is None else _Watch(observer))
    try:
        yield
    finally:
        _WATCH.reset(token)


def is_observed() -> bool:
    """Whether there is an observer; callers check this before they compute a report."""
    return _WATCH.get() is not None


def enter_stage(stage: str, total: int = 0) -> None:
    """Reports the start of a stage, with ``total`` candidates to work on."""
    if (watch := _WATCH.get()) is not None:
        watch.requests.clear()
        watch.show(Progress(stage, total=total))


def count_done() -> None:
    """Reports that the stage has finished one more candidate."""
    if (watch := _WATCH.get()) is not None:
        watch.show(replace(watch.now, done=watch.now.done + 1))


def report(event: QuestionEvent) -> None:
    """Reports an event of the question."""
    if (watch := _WATCH.get()) is not None:
        watch.observer.observe(event)


def report_sampling(request: object, progress: Progress) -> None:
    """Reports the progress of one model request of the current stage; any object identifies it."""
    if (watch := _WATCH.get()) is not None:
        watch.requests[request] = progress
        parts = watch.requests.values()
        watch.show(
            Progress(
                watch.now.stage,
                done=sum(part.done for part in parts),
                total=sum(part.total for part in parts),
                prompt_tokens_read=sum(part.prompt_tokens_read for part in parts),
                prompt_tokens=sum(part.prompt_tokens for part in parts),
                answer_tokens=sum(part.answer_tokens for part in parts),
            )
        )


OpenSpan = Callable[[str], AbstractContextManager[object]]
"""Opens a span of a distributed trace; spans opened inside it are its children."""

_TRACER: ContextVar[OpenSpan | None] = ContextVar("tracer", default=None)


@contextmanager
def traced_by(tracer: OpenSpan | None) -> Iterator[None]:
    """Inside this context, stages open spans by ``tracer``; None: they open none."""
    token = _TRACER.set(tracer)
    try:
        yield
    finally:
        _TRACER.reset(token)


def open_span(stage: str) -> AbstractContextManager[object]:
    """A span of that stage, which ends with the context."""
    tracer = _TRACER.get()
    return nullcontext() if tracer is None else tracer(stage)
