"""Brings the value index of one database up to date, as a phase of the indexing job.

A column is read again only when its table has changed, or its limits, comment or synonyms. Each is
stored as soon as it is read, so that a run that was stopped goes on where it was. What cannot be
read is reported and left out; it is tried again with the next change.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from nl2sql.catalog import Catalog, Column
from nl2sql.settings.database import ValueIndexSettings
from retrieval.index_store.value_store import ColumnKey, ValueStore
from retrieval.introspection.text_columns import TextColumn, Unreadable, ValueReader
from retrieval.values.aliases import find_aliases
from retrieval.values.unindexed_columns import find_objection
from retrieval.vocabulary.synonyms import NO_SYNONYMS, Synonyms

# Raise it when other values or aliases are made of the same rows.
_FORMAT_VERSION = 2

Progress = Callable[[int, int], None]


@dataclass(slots=True)
class ValuesReport:
    """What one run did. ``skipped`` pairs ``schema.table.column`` with why it has no values.

    ``columns`` and ``values`` count what is stored now, ``read`` the columns that were read anew.
    """

    columns: int = 0
    values: int = 0
    read: int = 0
    unchanged: int = 0
    skipped: list[tuple[str, str]] = field(default_factory=list)

    def describe(self) -> str:
        """One line: what there is, and why the rest is not.

        >>> ValuesReport(2, 1500, skipped=[("s.t.email", "looks private")]).describe()
        '1,500 values of 2 columns (without values: 1 looks private)'
        """
        line = f"{self.values:,} values of {self.columns:,} columns"
        reasons = Counter(reason for _, reason in self.skipped).most_common()
        if not reasons:
            return line
        without = ", ".join(f"{count:,} {reason}" for reason, count in reasons)
        return f"{line} (without values: {without})"


async def refresh_values(
    catalog: Catalog,
    store: ValueStore,
    reader: ValueReader,
    settings: ValueIndexSettings,
    synonyms: Synonyms = NO_SYNONYMS,
    *,
    progress: Progress = lambda done, total: None,
) -> ValuesReport:
    """Reads what has changed; ``progress(done, total)`` counts columns.

    Where the values are switched off, removes what is stored. Raises IndexUnavailable, and
    DatabaseUnavailable when the database does not answer at all.
    """
    database = catalog.database
    report = ValuesReport()
    stored = await store.marks(database)
    changed = False
    if settings.enabled:
        run = _Refresh(catalog, store, reader, settings, synonyms, report)
        with reader:
            changed = await run.run(stored, progress)
    elif stored:
        await store.forget(database, list(stored))
        changed = True
    if changed:
        await store.publish(database)
    report.columns, report.values = await store.count(database)
    return report


@dataclass(frozen=True, slots=True)
class _Refresh:
    """One run: what it reads from, where it writes, what it reports."""

    catalog: Catalog
    store: ValueStore
    reader: ValueReader
    settings: ValueIndexSettings
    synonyms: Synonyms
    report: ValuesReport

    async def run(self, stored: dict[ColumnKey, tuple[str, str]], progress: Progress) -> bool:
        """Whether anything is different now."""
        limits = self.settings
        surveyed = await asyncio.to_thread(
            self.reader.survey,
            self.catalog.tables,
            most=limits.max_distinct,
            longest=limits.max_length,
        )
        chosen = [each for each in surveyed if self._may_read(each)]
        wanted = {(each.table.qualified, each.column) for each in chosen}
        gone = [key for key in stored if key not in wanted]
        if gone:
            await self.store.forget(self.catalog.database, gone)
        changed = bool(gone)
        # How long each table has taken so far.
        spent_ms: dict[str, float] = {}
        for done, each in enumerate(chosen, start=1):
            mark = self._mark(each)
            known = stored.get((each.table.qualified, each.column))
            if known is not None and mark and known[0] == mark:
                self.report.unchanged += 1
                if known[1]:
                    self.report.skipped.append((each.qualified, known[1]))
            else:
                await self._read(each, mark, spent_ms)
                changed = True
            progress(done, len(chosen))
        return changed

    def _may_read(self, each: TextColumn) -> bool:
        objection = find_objection(each.qualified, each.column, self.settings.skip)
        if objection:
            self.report.skipped.append((each.qualified, objection))
        return not objection

    def _mark(self, each: TextColumn) -> str:
        """Of all that the stored values hang on; empty where the table's rows may have changed."""
        if not each.mark:
            return ""
        limits = self.settings
        parts = (
            str(_FORMAT_VERSION),
            each.mark,
            each.objection,
            f"{limits.max_distinct} {limits.max_length} {limits.timeout_ms}",
            self._column(each).comment,
            repr(sorted(self.synonyms.values.get(each.qualified, {}).items())),
        )
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]

    async def _read(self, each: TextColumn, mark: str, spent_ms: dict[str, float]) -> None:
        limits, table = self.settings, each.table
        found: tuple[str, ...] | Unreadable
        left_ms = limits.timeout_ms - int(spent_ms.get(table.qualified, 0))
        if each.objection:
            found = Unreadable(each.objection)
        elif left_ms <= 0:
            found = Unreadable(f"its table took longer than {limits.timeout_ms} ms")
        else:
            start = time.monotonic()
            found = await asyncio.to_thread(
                self.reader.read,
                table,
                each.column,
                most=limits.max_distinct + 1,
                longest=limits.max_length,
                timeout_ms=left_ms,
            )
            self.report.read += 1
            took_ms = (time.monotonic() - start) * 1000
            if isinstance(found, Unreadable) and found.timed_out:
                took_ms = limits.timeout_ms
            spent_ms[table.qualified] = spent_ms.get(table.qualified, 0) + took_ms
        if not isinstance(found, Unreadable) and len(found) > limits.max_distinct:
            found = Unreadable(f"more than {limits.max_distinct} distinct values")
        key, database = (table.qualified, each.column), self.catalog.database
        if isinstance(found, Unreadable):
            self.report.skipped.append((each.qualified, found.reason))
            await self.store.put(database, key, mark, note=found.reason)
            return
        values = sorted(value for value in found if _is_storable(value))
        aliases = find_aliases(
            each.column,
            values,
            self._column(each).comment,
            self.synonyms.values.get(each.qualified, {}),
        )
        await self.store.put(database, key, mark, values, aliases)

    @staticmethod
    def _column(each: TextColumn) -> Column:
        column = each.table.column(each.column)
        assert column is not None
        return column


def _is_storable(value: str) -> bool:
    """PostgreSQL stores no null character, and text that is not Unicode no driver can send."""
    return (
        bool(value.strip())
        and "\0" not in value
        and not any("\ud800" <= letter <= "\udfff" for letter in value)
    )
