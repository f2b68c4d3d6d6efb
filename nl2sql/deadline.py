"""The time limits of one question: of sampling, and of the whole request.

At the deadline of sampling it ends with what is finished, but never empty. At the end of a
request's time all its work ends. The time that is left is kept in a context variable, which tasks
of the request inherit; what crosses to another process sends it along in seconds, because the
clocks of two machines may differ. Without a limit, as in a command, nothing is kept.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from nl2sql.errors import DeadlineExceeded


@dataclass(frozen=True, slots=True)
class Deadline:
    """A time of ``time.monotonic``, valid in this process only; None: never."""

    at_s: float | None = None

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """The deadline ``seconds`` from now; None: never."""
        return cls(None if seconds is None else time.monotonic() + seconds)

    @property
    def left_s(self) -> float | None:
        """Seconds that are left, 0 when it has passed; None: no deadline."""
        return None if self.at_s is None else max(self.at_s - time.monotonic(), 0.0)

    @property
    def has_passed(self) -> bool:
        """Whether it has passed, so that no new work should begin."""
        return self.left_s == 0.0


NEVER = Deadline()

_OVER = "The time of the request is over."
_REQUEST: ContextVar[Deadline] = ContextVar("request_deadline", default=NEVER)


@asynccontextmanager
async def ending_in(left_s: float | None) -> AsyncIterator[None]:
    """The block works for a request that has ``left_s`` seconds left; None: no limit.

    At the end of that time the block is cancelled; if none is left, it does not begin. Raises
    DeadlineExceeded in both cases.
    """
    if left_s is None:
        yield
        return
    token = _REQUEST.set(Deadline.after(left_s))
    try:
        read_left_s()
        async with asyncio.timeout(left_s) as timer:
            yield
    except TimeoutError as error:
        if not timer.expired():
            raise
        raise DeadlineExceeded(_OVER) from error
    finally:
        _REQUEST.reset(token)


def read_left_s() -> float | None:
    """The seconds left of the request for which this task works; None: no limit.

    Raises DeadlineExceeded if none are left.
    """
    left_s = _REQUEST.get().left_s
    if left_s == 0.0:
        raise DeadlineExceeded(_OVER)
    return left_s
