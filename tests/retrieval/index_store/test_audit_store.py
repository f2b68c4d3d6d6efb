"""The audit log on a real PostgreSQL."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from retrieval.index_store.audit_store import AuditStore
from retrieval.index_store.store import IndexStore
from tests.fakes import AUDIT_ENTRY


async def test_an_entry_comes_back(store: IndexStore) -> None:
    log = AuditStore(store)
    odd = replace(AUDIT_ENTRY, principal="bob", question="a\0b \ud800", row_count=None, code="x")
    await log.add(AUDIT_ENTRY)
    await log.add(odd)
    assert await log.read(most=9) == [AUDIT_ENTRY, replace(odd, question="ab ?")]
    assert await log.read(most=1) == [replace(odd, question="ab ?")]
    assert await log.read(most=9, principal="ann") == [AUDIT_ENTRY]
    assert await log.read(most=9, since=AUDIT_ENTRY.asked_at + timedelta(seconds=1)) == []


async def test_old_entries_are_deleted(store: IndexStore) -> None:
    now = datetime.now(UTC)
    for age in (1, 29, 31):
        await AuditStore(store).add(replace(AUDIT_ENTRY, asked_at=now - timedelta(days=age)))
    await AuditStore(store, keep_days=30).add(AUDIT_ENTRY)
    assert [entry.asked_at for entry in await AuditStore(store).read(most=9)] == [
        now - timedelta(days=29),
        now - timedelta(days=1),
    ]
