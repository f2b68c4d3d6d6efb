"""Counts of usage on a real PostgreSQL, by two stores at once as by two replicas."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from nl2sql.types import UsageLimits
from retrieval.index_store.store import IndexStore
from retrieval.index_store.usage_store import Exceeded, QuestionLease, UsageStore
from tests.retrieval.index_store.conftest import execute

NO_LIMITS = UsageLimits()


@pytest.fixture
async def replicas(store: IndexStore, index_url: str) -> AsyncIterator[list[UsageStore]]:
    """Two stores with pools of their own."""
    other = IndexStore(index_url)
    yield [UsageStore(store), UsageStore(other)]
    await other.close()


async def begin(usage: UsageStore, limits: UsageLimits) -> QuestionLease | Exceeded:
    return await usage.begin_question("ann", limits, rows=10, lease_s=60)


async def take(usage: UsageStore, limits: UsageLimits) -> QuestionLease:
    lease = await begin(usage, limits)
    assert isinstance(lease, QuestionLease)
    return lease


async def test_each_request_has_a_number_of_its_own(replicas: list[UsageStore]) -> None:
    counts = await asyncio.gather(
        *(replicas[number % 2].count_request("ann") for number in range(50))
    )
    assert sorted(number for number, _ in counts) == list(range(1, 51))
    assert (await replicas[0].count_request("bob"))[0] == 1


async def test_a_minute_begins_with_its_first_request(
    replicas: list[UsageStore], index_url: str
) -> None:
    usage = replicas[0]
    for _ in range(3):
        _, minute_ends_s = await usage.count_request("ann")
    assert 0 < minute_ends_s <= 60
    execute(index_url, "UPDATE quorumsql.usage SET minute_began = now() - interval '61 seconds'")
    assert await usage.count_request("ann") == (1, 60)


async def test_no_more_questions_at_once_than_allowed(replicas: list[UsageStore]) -> None:
    limits = UsageLimits(questions_at_once=3)
    found = await asyncio.gather(*(begin(replicas[number % 2], limits) for number in range(20)))
    leases = [lease for lease in found if isinstance(lease, QuestionLease)]
    assert len(leases) == 3
    assert {refusal.limit for refusal in found if isinstance(refusal, Exceeded)} == {
        "questions_at_once"
    }
    await replicas[1].end_question(leases[0], tokens=0, rows=0)
    await take(replicas[0], limits)
    assert isinstance(await begin(replicas[0], limits), Exceeded)


async def test_a_lease_that_is_never_returned_expires(
    replicas: list[UsageStore], index_url: str
) -> None:
    limits = UsageLimits(questions_at_once=1)
    await take(replicas[0], limits)
    assert isinstance(await begin(replicas[1], limits), Exceeded)
    execute(index_url, "UPDATE quorumsql.question_leases SET expires_at = now()")
    await take(replicas[1], limits)


async def test_rows_are_never_overspent(replicas: list[UsageStore]) -> None:
    limits = UsageLimits(rows_per_day=25)
    found = await asyncio.gather(*(begin(replicas[number % 2], limits) for number in range(8)))
    leases = [lease for lease in found if isinstance(lease, QuestionLease)]
    assert sorted(lease.rows or 0 for lease in leases) == [5, 10, 10]
    for lease in leases:
        await replicas[0].end_question(lease, tokens=0, rows=5)
    assert (await take(replicas[0], limits)).rows == 10
    assert isinstance(await begin(replicas[0], limits), Exceeded)


async def test_tokens_are_counted_when_a_question_ends(replicas: list[UsageStore]) -> None:
    limits = UsageLimits(tokens_per_day=100)
    lease = await take(replicas[0], limits)
    await replicas[0].end_question(lease, tokens=99, rows=0)
    assert (await replicas[1].read("ann")).tokens == 99
    lease = await take(replicas[1], limits)
    await replicas[1].end_question(lease, tokens=1, rows=0)
    refusal = await begin(replicas[0], limits)
    assert isinstance(refusal, Exceeded)
    assert refusal.limit == "tokens_per_day"
    assert 0 < refusal.retry_after_s <= 86_400
    assert isinstance(await begin(replicas[0], NO_LIMITS), QuestionLease)


async def test_a_new_day_begins_at_zero(replicas: list[UsageStore], index_url: str) -> None:
    limits = UsageLimits(tokens_per_day=10, rows_per_day=10)
    yesterday = await take(replicas[0], limits)
    execute(index_url, "UPDATE quorumsql.usage SET day = day - 1, tokens = 10, result_rows = 10")
    assert (await replicas[0].read("ann")).tokens == 0
    earlier = QuestionLease(
        yesterday.id, yesterday.principal, yesterday.day.replace(year=2000), yesterday.rows
    )
    # What was reserved yesterday is not given back today.
    await replicas[0].end_question(earlier, tokens=3, rows=4)
    assert (await take(replicas[0], limits)).rows == 6
