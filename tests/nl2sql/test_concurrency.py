from __future__ import annotations

import asyncio

import pytest

from nl2sql.concurrency import gather_all
from nl2sql.errors import Unavailable


async def wait(ended: list[bool]) -> None:
    try:
        await asyncio.sleep(60)
    finally:
        ended.append(True)


async def test_the_first_failure_is_raised_as_it_is_and_ends_the_others() -> None:
    ended: list[bool] = []

    async def fail() -> None:
        await asyncio.sleep(0)
        raise Unavailable("gone")

    with pytest.raises(Unavailable, match="gone") as raised:
        await gather_all([wait(ended), fail(), wait(ended)])
    assert ended == [True, True]
    # Not chained to the group, whose traceback would repeat it.
    assert raised.value.__cause__ is None
