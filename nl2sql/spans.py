"""Opens a span of a distributed trace for each stage of a question. Without a tracer: no effect.

The tracer is kept in a context variable, as the observer of ``progress`` is. Knows no tracing
library; ``serve_app`` provides the tracer.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar

from nl2sql.protocols import Tracer

_TRACER: ContextVar[Tracer | None] = ContextVar("tracer", default=None)


@contextmanager
def traced_by(tracer: Tracer | None) -> Iterator[None]:
    """Inside this context, stages open spans of ``tracer``; None: they open none."""
    token = _TRACER.set(tracer)
    try:
        yield
    finally:
        _TRACER.reset(token)


def open_span(stage: str) -> AbstractContextManager[object]:
    """A span of that stage, which ends with the context."""
    tracer = _TRACER.get()
    return nullcontext() if tracer is None else tracer.open_span(stage)
