"""Runs long computations on SQL texts in a thread beside the event loop, one at a time.

Parsing holds Python's global lock: one thread is as fast as many, and the event loop gets the lock
back within milliseconds, however many texts wait. ``parsing.py`` bounds the time of one text; a
text whose caller was cancelled is not started.
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
    """Runs ``read`` with these arguments in the thread. Raises what it raises."""
    work = partial(read, *args, **kwargs)
    return await asyncio.get_running_loop().run_in_executor(_open_thread(), work)


@cache
def _open_thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, "sql-text")
