"""The audit log on a real PostgreSQL."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from retrieval.index_store.audit_store import AuditEntry, AuditStore
from retrieval.index_store.store import IndexStore

ENTRY = AuditEntry(
    asked_at=datetime(2026, 5, 1, 12, tzinfo=UTC),
    principal="ann",
    key="key_1",
    database="shop",
    session="",
    question="How many?",
    outcome="answered",
    code="",
    sql="SELECT 1",
    predicates=("sales.orders: country = $1",),
    tables=("sales.orders",),
    executed=("SELECT 1", "SELECT 2"),
    row_count=1,
    ms=12.5,
)


async def test_an_entry_comes_back(store: IndexStore) -> None:
    log = AuditStore(store)
    odd = replace(ENTRY, principal="bob", question="a\0b \ud800", row_count=None, code="x")
    await log.add(ENTRY)
    await log.add(odd)
    assert await log.read(most=9) == [ENTRY, replace(odd, question="ab ?")]
    assert await log.read(most=1) == [replace(odd, question="ab ?")]
    assert await log.read(most=9, principal="ann") == [ENTRY]
    assert await log.read(most=9, since=ENTRY.asked_at + timedelta(seconds=1)) == []


async def test_old_entries_are_deleted(store: IndexStore) -> None:
    now = datetime.now(UTC)
    for age in (1, 29, 31):
        await AuditStore(store).add(replace(ENTRY, asked_at=now - timedelta(days=age)))
    await AuditStore(store, keep_days=30).add(ENTRY)
    assert [entry.asked_at for entry in await AuditStore(store).read(most=9)] == [
        now - timedelta(days=29),
        now - timedelta(days=1),
    ]
