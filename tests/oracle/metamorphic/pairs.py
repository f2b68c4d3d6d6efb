"""Pairs of databases: which queries are asked, and how a change is judged."""

from __future__ import annotations

import asyncio
import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import islice

from nl2sql.catalog import Catalog
from nl2sql.types import Diagnostic, GuardedQuery, Principal
from tests.oracle.corpus import Query
from tests.oracle.metamorphic.error_probes import Values, draw_probes
from tests.oracle.metamorphic.observations import Observation, Side
from tests.oracle.metamorphic.postgres_changes import Change
from tests.oracle.metamorphic.verdicts import Finding, Pair, PairJudge, PairTally, Settling
from tests.oracle.stage import Subject, build_guarding
from tests.oracle.verdicts import Guarding

# Of what is drawn the guard refuses a part; so many times as many are tried.
_MOST_TRIED = 4

Guarded = Sequence[tuple[Query, GuardedQuery]]


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


class Pairs(ABC):
    """Judges pairs of databases: the one there is, and it with what is hidden changed.

    A principal's queries are guarded and run on the first database once, then on each changed one.
    """

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self._runner = asyncio.Runner()

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
        tally, subject = PairTally(), self.subject
        most = -(-pairs // (len(principals) * len(changes)))
        corpus, values = self._list_corpus(), self._read_values()
        for principal in principals:
            guard = build_guarding(subject.policy, subject.catalog, principal)
            queries = choose_queries(
                corpus, subject.catalog, values, guard, rng, most=most, tally=tally
            )
            self.judge_queries(principal, queries, tally, changes=changes, progress=progress)
        return tally

    def judge_queries(
        self,
        principal: Principal,
        queries: Guarded,
        tally: PairTally,
        *,
        changes: Sequence[Change] = tuple(Change),
        progress: Callable[[str, PairTally], None] = lambda name, tally: None,
    ) -> None:
        """Adds the verdicts on queries that are guarded for ``principal``.

        A change that leaves everything as it is makes no pairs. Raises the errors of the drivers,
        DatabaseUnavailable, InsecureRole, and AssertionError where the principal could see a
        change.
        """
        seen: dict[GuardedQuery, Observation] = {}
        for change in self._iterate_changes(principal, changes):
            with self._open_sides() as (left, right, is_open):
                judge = PairJudge(left, right, is_open)
                for query, asked in queries:
                    if asked not in seen:
                        seen[asked] = left.observe(asked)
                    usual = seen[asked]
                    pair = Pair(query.name, principal.name, change, query.sql, asked)
                    answer = usual.result
                    state = answer.sqlstate if isinstance(answer, Diagnostic) else ""
                    tally.add(Finding(pair, *judge.judge(asked, usual)), state)
                left.close()
                right.close()
            progress(f"{principal.name} {change}", tally)

    def close(self) -> None:
        """Ends what runs."""
        self._runner.close()

    @abstractmethod
    def _list_corpus(self) -> Sequence[Query]: ...

    @abstractmethod
    def _read_values(self) -> Values:
        """A few values of each column, whoever may see them."""

    @abstractmethod
    def _iterate_changes(self, principal: Principal, changes: Sequence[Change]) -> Iterator[Change]:
        """Makes the second database by one change after another, where it changes anything."""

    @abstractmethod
    def _open_sides(self) -> AbstractContextManager[tuple[Side, Side, Settling]]:
        """Both databases as they are now, and whether the first answers in several ways."""
