"""What the pairs of all engines share: which queries are asked, and how a change is judged."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice

from nl2sql.catalog import Catalog
from nl2sql.types import Diagnostic, GuardedQuery, Principal
from tests.oracle.corpus import Query
from tests.oracle.metamorphic.error_probes import Values, draw_probes
from tests.oracle.metamorphic.observations import Observation, Side
from tests.oracle.metamorphic.verdicts import Finding, Pair, PairJudge, PairTally
from tests.oracle.verdicts import Guarding

# Of what is drawn the guard refuses a part; so many times as many are tried.
_MOST_TRIED = 4

Progress = Callable[[str, PairTally], None]
Guarded = Sequence[tuple[Query, GuardedQuery]]
Seen = dict[GuardedQuery, Observation]
"""What the first database showed, by query."""


def ignore_progress(_name: str, _tally: PairTally) -> None:
    """For a run that nobody watches."""


def choose_queries(
    corpus: Sequence[Query],
    catalog: Catalog,
    values: Values,
    guard: Guarding,
    rng: random.Random,
    *,
    most: int,
    tally: PairTally,
) -> Guarded:
    """At most ``most`` queries that pass the guard: half of the corpus, the rest made to fail."""
    found: dict[GuardedQuery, Query] = {}
    probes = draw_probes(cut_refused(catalog, guard), values, rng)
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


def judge_pairs(
    judge: PairJudge,
    left: Side,
    queries: Guarded,
    principal: Principal,
    change: str,
    seen: Seen,
    tally: PairTally,
) -> None:
    """Adds the verdict on each query. Raises DatabaseUnavailable, InsecureRole."""
    for query, guarded in queries:
        if guarded not in seen:
            seen[guarded] = left.observe(guarded)
        usual = seen[guarded]
        pair = Pair(query.name, principal.name, change, query.sql, guarded)
        state = usual.result.sqlstate if isinstance(usual.result, Diagnostic) else ""
        tally.add(Finding(pair, *judge.judge(guarded, usual)), state)


def split_evenly(pairs: int, parts: int) -> int:
    """How many of ``pairs`` each of the parts has, rounded up."""
    return -(-pairs // parts)
