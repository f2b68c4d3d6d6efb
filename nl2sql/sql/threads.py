"""Runs long computations in threads beside the event loop: one for SQL texts, one for results.

Python's global lock lets one thread compute at a time: one for each kind of work is as fast as
many, and the event loop gets the lock back within milliseconds, however much work waits. It does so
between two steps of a computation, never within one: a single call over a whole result, such as
``json.dumps``, would stop the loop from a thread too. So results are computed on in parts.
``parsing.py`` bounds the time of one text. Work whose caller was cancelled is not started.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


async def run_in_parser_thread(
    read: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Result:
    """Runs ``read`` with these arguments in the thread for SQL texts. Raises what it raises."""
    return await _run("sql-text", partial(read, *args, **kwargs))


async def run_in_results_thread(
    compute: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Result:
    """Runs ``compute`` in the thread for results: votes and renderings. Raises what it raises."""
    return await _run("results", partial(compute, *args, **kwargs))


async def _run(thread: str, work: Callable[[], Result]) -> Result:
    return await asyncio.get_running_loop().run_in_executor(_open_thread(thread), work)


@cache
def _open_thread(name: str) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, name)
