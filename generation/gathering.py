"""Waits for concurrent requests to a model until a deadline, and keeps what they brought."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from nl2sql.deadline import Deadline
from nl2sql.errors import QuorumError

_T = TypeVar("_T")
_LOG = logging.getLogger("quorumsql")


async def gather_until(
    deadline: Deadline,
    coroutines: Sequence[Coroutine[Any, Any, _T]],
    is_enough: Callable[[_T], bool] = lambda _: True,
    *,
    has_enough: bool = False,
    grace_s: float = 0.0,
) -> list[_T | None]:
    """Runs all concurrently and returns their results in order; None for one without a result.

    ``grace_s`` after the deadline, those still running are cancelled as soon as one result
    ``is_enough``, or at once if ``has_enough``. A QuorumError of one does not lose the results
    of the others, which may have cost money: the first is raised only if there is no result and
    not ``has_enough``. Any other exception is raised and cancels the others.
    """
    tasks = [asyncio.ensure_future(coroutine) for coroutine in coroutines]
    running = set(tasks)
    given_up_s = None if deadline.at_s is None else deadline.at_s + grace_s
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
