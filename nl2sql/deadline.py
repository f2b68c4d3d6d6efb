"""The time limits of one question: of sampling, and of the whole request.

At the deadline of sampling it ends with what is finished, but never empty. At the end of a
request's time all its work ends. The time that is left is kept in a context variable, which tasks
of the request inherit; what crosses to another process sends it along in seconds, because the
clocks of two machines may differ. Without a limit, as in a command, nothing is kept.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

from nl2sql.errors import DeadlineExceeded, QuorumError

_T = TypeVar("_T")
_LOG = logging.getLogger("quorumsql")
# The engine has the same deadline and needs time to return what is finished.
_GRACE_S = 1.0


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

    async def gather(
        self,
        coroutines: Sequence[Coroutine[Any, Any, _T]],
        is_enough: Callable[[_T], bool],
        *,
        has_enough: bool = False,
        grace_s: float = _GRACE_S,
    ) -> list[_T | None]:
        """Runs all concurrently and returns their results in order; None for one without a result.

        ``grace_s`` after the deadline, those still running are cancelled as soon as one result
        ``is_enough``, or at once if ``has_enough``. A QuorumError of one does not lose the results
        of the others, which may have cost money: the first is raised only if there is no result and
        not ``has_enough``. Any other exception is raised and cancels the others.
        """
        tasks = [asyncio.ensure_future(coroutine) for coroutine in coroutines]
        running = set(tasks)
        given_up_s = None if self.at_s is None else self.at_s + grace_s
        results: dict[asyncio.Future[_T], _T] = {}
        errors: list[QuorumError] = []
        has_any = has_enough
        try:
            while running:
                now_s = time.monotonic()
                is_late = given_up_s is not None and now_s >= given_up_s
                has_enough = has_enough or any(map(is_enough, results.values()))
                if is_late and has_enough:
                    break
                wait_s = None if is_late or given_up_s is None else given_up_s - now_s
                done, running = await asyncio.wait(
                    running, timeout=wait_s, return_when=asyncio.FIRST_COMPLETED
                )
                for task in done:
                    try:
                        results[task] = task.result()
                    except QuorumError as error:
                        _LOG.warning("Left out of %d: %s", len(tasks), error)
                        errors.append(error)
            if errors and not results and not has_any:
                raise errors[0]
            return [results.get(task) for task in tasks]
        finally:
            for task in running:
                task.cancel()
            if running:
                await asyncio.wait(running)


NEVER = Deadline()

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
        raise _build_error() from error
    finally:
        _REQUEST.reset(token)


def read_left_s() -> float | None:
    """The seconds left of the request for which this task works; None: no limit.

    Raises DeadlineExceeded if none are left.
    """
    left_s = _REQUEST.get().left_s
    if left_s == 0.0:
        raise _build_error()
    return left_s


def _build_error() -> DeadlineExceeded:
    return DeadlineExceeded("The time of the request is over.")
