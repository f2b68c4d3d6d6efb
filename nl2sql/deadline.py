"""When sampling for one question ends: with what is there by then, and never without anything."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

_T = TypeVar("_T")
# The engine knows of the deadline too, and hands over what it has.
_GRACE_S = 1.0


@dataclass(frozen=True, slots=True)
class Deadline:
    """A time of ``time.monotonic``, so for this process only; None: never."""

    at_s: float | None = None

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """So many seconds from now."""
        return cls(None if seconds is None else time.monotonic() + seconds)

    @property
    def left_s(self) -> float | None:
        """Seconds that are left, 0 when it has passed; None: no end."""
        return None if self.at_s is None else max(self.at_s - time.monotonic(), 0.0)

    @property
    def has_passed(self) -> bool:
        """Whether nothing new should begin."""
        return self.left_s == 0.0

    async def gather(
        self,
        works: Sequence[Coroutine[Any, Any, _T]],
        is_enough: Callable[[_T], bool],
        *,
        has_enough: bool = False,
    ) -> list[_T | None]:
        """What each gives, in order; None for one that was ended.

        All run side by side. From the deadline on, those that still run are ended as soon as one
        has given enough, or at once where there is enough without them (``has_enough``). What any
        of them raises is raised, and ends the others.
        """
        tasks = [asyncio.ensure_future(work) for work in works]
        running = set(tasks)
        given_up_s = None if self.at_s is None else self.at_s + _GRACE_S
        try:
            while running:
                now_s = time.monotonic()
                is_late = given_up_s is not None and now_s >= given_up_s
                has_enough = has_enough or any(
                    task.done() and is_enough(task.result()) for task in tasks
                )
                if is_late and has_enough:
                    break
                wait_s = None if is_late or given_up_s is None else given_up_s - now_s
                done, running = await asyncio.wait(
                    running, timeout=wait_s, return_when=asyncio.FIRST_COMPLETED
                )
                for each in done:
                    each.result()
            return [task.result() if task.done() else None for task in tasks]
        finally:
            for each in running:
                each.cancel()
            if running:
                await asyncio.wait(running)


NEVER = Deadline()
