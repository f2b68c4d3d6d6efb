"""Runs what takes long to compute beside the event loop, one call at a time.

Reading is all Python and needs its lock: in one thread it is no slower than in many, and the event
loop gets the lock back within milliseconds, however many texts wait. How long one of them may take
is for ``parsing.py`` to bound; a text that nobody waits for any more is not begun.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


async def read_aside(
    read: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Result:
    """What ``read`` returns for these arguments. Raises what it raises."""
    work = partial(read, *args, **kwargs)
    return await asyncio.get_running_loop().run_in_executor(_open_thread(), work)


@cache
def _open_thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, "sql-text")
