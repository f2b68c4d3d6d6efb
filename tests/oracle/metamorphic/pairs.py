"""Pairs of warehouses: which queries are asked, and how a change is judged.

Beside found queries some are made to fail on some values, or to be tried by a planner on values
that it has sampled: a condition over one column (``probe_conditions_*.sql``) in one place of a
query (``probe_places.sql``). What a condition compares with is mostly a value that hidden rows hold
on one of the two sides.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from nl2sql.catalog import Catalog, Column, Table
from nl2sql.sql.names import quote_name
from nl2sql.types import GuardedQuery, Principal
from tests.oracle.corpus import Query, fill_template, list_queries, load_templates
from tests.oracle.metamorphic import warehouse
from tests.oracle.metamorphic.stores import Store
from tests.oracle.metamorphic.verdicts import Finding, Observation, PairJudge, PairTally, Side
from tests.oracle.metamorphic.warehouse import Change
from tests.oracle.stage import build_guarding
from tests.oracle.verdicts import Guarding

PLACES = load_templates("probe_places")
CONDITIONS = {
    dialect: load_templates("probe_conditions_common", f"probe_conditions_{dialect}")
    for dialect in ("postgres", "sqlite", "duckdb")
}
# Beginnings of declared types, in lower case, and the kind of condition that fits them.
_KINDS = {
    "text[]": "array",
    **dict.fromkeys(("text", "varchar", "character"), "text"),
    "numrange": "range",
    **dict.fromkeys("int bigint smallint numeric decimal real double".split(), "number"),
    **dict.fromkeys(("date", "timestamp"), "date"),
    "jsonb": "json",
    "inet": "inet",
    "bytea": "bytes",
}
# Of what is drawn the guard refuses a part; so many times as many are tried.
_MOST_TRIED = 4
_LEFT, _RIGHT = "left", "right"

Guarded = Sequence[tuple[Query, GuardedQuery]]


class Pairs:
    """Judges pairs of warehouses in ``store``: the usual one, and it with what is hidden changed.

    A principal's queries are guarded and run on the usual one once, then on each changed one.
    """

    def __init__(self, store: Store) -> None:
        """Raises the errors of the drivers."""
        self._store = store
        self._rows = warehouse.build_rows()
        self._runner = asyncio.Runner()
        store.write(_LEFT, self._rows)
        self.catalog = store.read_catalog(_LEFT)

    def build_guard(self, principal: Principal, *, barrier: bool = True) -> Guarding:
        """The guard of one principal."""
        return build_guarding(warehouse.POLICY, self.catalog, principal, barrier=barrier)

    def judge(
        self,
        principals: Sequence[Principal],
        rng: random.Random,
        *,
        pairs: int,
        changes: Sequence[Change] = tuple(Change),
        progress: Callable[[str, PairTally], None] = lambda name, tally: None,
    ) -> PairTally:
        """About ``pairs`` pairs, the same share for each principal and change.

        Raises as ``judge_queries`` does.
        """
        tally = PairTally()
        most = -(-pairs // (len(principals) * len(changes)))
        for principal in principals:
            queries = self._choose_queries(self.build_guard(principal), rng, most, tally)
            self.judge_queries(principal, queries, tally, changes=changes)
            progress(principal.name, tally)
        return tally

    def judge_queries(
        self,
        principal: Principal,
        queries: Guarded,
        tally: PairTally,
        *,
        changes: Sequence[Change] = tuple(Change),
    ) -> None:
        """Adds the verdicts on queries that are guarded for ``principal``.

        A change that leaves everything as it is makes no pairs. Raises the errors of the drivers,
        DatabaseUnavailable, InsecureRole.
        """
        seen: dict[GuardedQuery, Observation] = {}
        for change in changes:
            changed = warehouse.change_rows(self._rows, principal, change)
            if changed == self._rows:
                continue
            # DuckDB may know a file of the same name from before.
            right_name = f"{_RIGHT}_{principal.name}_{change}"
            self._store.write(right_name, changed)
            left, right = (
                Side(self._store.open(name), self._runner) for name in (_LEFT, right_name)
            )

            def is_open(query: GuardedQuery, name: str = right_name) -> bool:
                return self._store.is_open(_LEFT, name, query)

            judge = PairJudge(left, right, is_open)
            for query, asked in queries:
                if asked not in seen:
                    seen[asked] = left.observe(asked)
                kind, detail = judge.judge(asked, seen[asked])
                finding = Finding(
                    query.name, principal.name, change, query.sql, asked, kind, detail
                )
                tally.add(finding)
            left.close()
            right.close()
            self._store.remove(right_name)

    def close(self) -> None:
        """Removes what was made."""
        self._runner.close()
        self._store.remove(_LEFT)

    def _choose_queries(
        self, guard: Guarding, rng: random.Random, most: int, tally: PairTally
    ) -> Guarded:
        """At most ``most`` queries that pass the guard: half of the corpus, the rest probes."""
        if self.catalog.dialect == "duckdb":
            corpus = [Query(name, "gold", text) for name, text in warehouse.GOLDS]
        else:
            corpus = list_queries(self.catalog, warehouse.GOLDS)
        probes = draw_probes(cut_refused(self.catalog, guard), rng)
        found: dict[GuardedQuery, Query] = {}
        sources = (
            (iter(rng.sample(corpus, len(corpus))), most // 2),
            (islice(probes, most * _MOST_TRIED), most),
        )
        for queries, wanted in sources:
            for query in queries:
                if len(found) >= wanted:
                    break
                guarded = guard(query.sql)
                if isinstance(guarded, GuardedQuery):
                    found.setdefault(guarded, query)
                else:
                    tally.refused += 1
        return [(query, guarded) for guarded, query in found.items()]


def cut_refused(catalog: Catalog, guard: Guarding) -> Catalog:
    """The catalog with the tables and columns only that the guard allows the principal."""
    tables = []
    for table in catalog.tables:
        name = catalog.short_names[table.qualified]
        columns = tuple(
            column
            for column in table.columns
            if isinstance(guard(f'SELECT t."{column.name}" FROM {name} AS t'), GuardedQuery)
        )
        if columns:
            tables.append(replace(table, columns=columns))
    return replace(catalog, tables=tuple(tables))


def draw_probes(catalog: Catalog, rng: random.Random) -> Iterator[Query]:
    """Probes over the catalog's tables, each drawn on its own, without end."""
    columns = [
        (table, column, kind)
        for table in catalog.tables
        for column in table.columns
        if (kind := _find_kind(column))
    ]
    conditions: dict[str, list[str]] = {}
    for name in CONDITIONS[catalog.dialect]:
        conditions.setdefault(name.partition("_")[0], []).append(name)
    while True:
        table, column, kind = rng.choice(columns)
        name, place = rng.choice(conditions[kind]), rng.choice([*PLACES])
        if text := _build_probe(catalog, table, column, name, place, rng):
            yield Query(f"{table.qualified}.{column.name}", f"{name} in {place}", text)


def _build_probe(
    catalog: Catalog,
    table: Table,
    column: Column,
    condition: str,
    place: str,
    rng: random.Random,
) -> str:
    """One probe; empty where the place wants a foreign key and the table has none."""

    def quote(name: str) -> str:
        return quote_name(name, catalog.dialect)

    kind = _find_kind(column)
    value = str(
        rng.choice((7777, 0, 5, 1, 113, 1_900_000_000))
        if kind == "number"
        else rng.choice(("hida7", "hidb", "aaaa", "12x", "Bolt 5", "note 7"))
    )
    fills = {
        "c": f"a.{quote(column.name)}",
        "v": f"'{value}'" if kind == "text" else value,
        "w": value[:4],
    }
    rendered = fill_template(CONDITIONS[catalog.dialect][condition], fills)
    key = table.primary_key[0] if table.primary_key else table.columns[0].name
    slots = {
        "t": catalog.short_names[table.qualified],
        "k": quote(key),
        "c": quote(column.name),
        "p": rendered.replace("{{", "{").replace("}}", "}"),
    }
    keys = [link for link in catalog.foreign_keys if link.table == table.qualified]
    if keys:
        chosen = rng.choice(keys)
        slots["u"] = catalog.short_names.get(chosen.target, "")
        slots["tk"], slots["uk"] = quote(chosen.columns[0]), quote(chosen.target_columns[0])
    return fill_template(PLACES[place], slots)


def _find_kind(column: Column) -> str:
    declared = column.type.lower()
    return next((kind for start, kind in _KINDS.items() if declared.startswith(start)), "")
