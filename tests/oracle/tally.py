"""Verdicts counted, and told as a table with an example of each thing that went wrong; runs."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, TypeVar

from nl2sql.catalog import Catalog
from nl2sql.types import Principal
from tests.oracle.corpus import Query, list_queries
from tests.oracle.stage import PostgresStage
from tests.oracle.verdicts import Judge, Kind, Verdict


@dataclass(frozen=True, slots=True)
class Finding:
    """A query with its verdict for one principal."""

    principal: str
    query: Query
    verdict: Verdict

    def render(self) -> str:
        """All that is needed to reproduce it."""
        lines = [f"{self.query.name}, as {self.principal}: {self.verdict.kind}"]
        if self.verdict.detail:
            lines.append(f"  {self.verdict.detail}")
        if self.verdict.refusal is not None:
            refusal = self.verdict.refusal
            lines.append(f"  {refusal.code}: {refusal.message} [{refusal.fragment}]")
        lines.append(f"  plain:   {self.query.sql}")
        if self.verdict.guarded:
            lines.append(f"  guarded: {self.verdict.guarded}")
        return "\n".join(lines)


_Kind = TypeVar("_Kind", bound=StrEnum)
_MOST_EXAMPLES = 3
_LONGEST_EXAMPLE = 400


@dataclass
class KindCounts(Generic[_Kind]):
    """How many verdicts of each kind there are, by the name of a row of the table."""

    counts: Counter[tuple[str, _Kind]] = field(default_factory=Counter)

    @property
    def total(self) -> int:
        """How many verdicts there are."""
        return self.counts.total()

    def count(self, kind: _Kind) -> int:
        """How many verdicts of one kind."""
        return sum(number for (_, other), number in self.counts.items() if other is kind)

    def render_table(self, title: str, called: str, kinds: Iterable[_Kind]) -> Iterator[str]:
        """A line for each name and one for all; ``called`` is what is counted."""
        columns = list(kinds)
        names = list(dict.fromkeys(name for name, _ in self.counts))
        width = max(map(len, (*names, title)))
        rows = [(name, [self.counts[name, kind] for kind in columns]) for name in names]
        rows.append(("all", list(map(self.count, columns))))
        yield " ".join([f"{title:{width}}", *(f"{text:>12}" for text in (called, *columns))])
        for name, numbers in rows:
            cells = (f"{number:12,}" for number in (sum(numbers), *numbers))
            yield " ".join([f"{name:{width}}", *cells])


@dataclass
class Tally(KindCounts[Kind]):
    """Counts of all verdicts; mismatches are kept, of refusals a few for each reason."""

    refusals: Counter[tuple[str, str]] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    slow: Counter[str] = field(default_factory=Counter)
    telling: int = 0
    mismatches: list[Finding] = field(default_factory=list)
    unsettled: list[Finding] = field(default_factory=list)
    examples: dict[tuple[str, str], list[Finding]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def add(self, finding: Finding) -> None:
        """Counts one verdict."""
        verdict = finding.verdict
        self.counts[finding.principal, verdict.kind] += 1
        self.telling += verdict.telling
        if verdict.kind is Kind.MISMATCH:
            self.mismatches.append(finding)
        elif verdict.kind is Kind.UNSETTLED:
            self.unsettled.append(finding)
        elif verdict.kind is Kind.FAILED_ALIKE:
            self.errors[verdict.detail] += 1
        elif verdict.kind is Kind.SLOW:
            self.slow[verdict.detail] += 1
        elif verdict.kind is Kind.REFUSED and verdict.refusal is not None:
            key = (verdict.refusal.code, finding.query.kind.split("/")[0])
            self.refusals[key] += 1
            if len(self.examples[key]) < _MOST_EXAMPLES:
                self.examples[key].append(finding)

    @property
    def refused_share(self) -> float:
        """Harmless queries refused, as a share of those that the copy answers; 0 to 1."""
        answered = sum(map(self.count, (Kind.EQUAL, Kind.REFUSED, Kind.UNSETTLED, Kind.MISMATCH)))
        return self.count(Kind.REFUSED) / answered if answered else 0.0

    @property
    def unsettled_share(self) -> float:
        """Queries set aside because the copy answers them in several ways; 0 to 1."""
        return self.count(Kind.UNSETTLED) / self.total if self.total else 0.0

    def render(self) -> str:
        """The table by principal, refusals by code and kind, and every mismatch in full."""
        return "\n".join(self._render_lines())

    def _render_lines(self) -> Iterator[str]:
        yield from self.render_table("principal", "queries", Kind)
        yield f"equal where the whole database answers otherwise: {self.telling:,}"
        yield f"harmless queries refused: {self.refused_share:.2%} of those that the copy answers"
        yield f"set aside as unsettled: {self.unsettled_share:.2%}"
        for name, counted in (("errors on both sides", self.errors), ("slow", self.slow)):
            if counted:
                yield f"{name}: " + ", ".join(f"{key} {n}" for key, n in counted.most_common())
        for (code, kind), number in self.refusals.most_common():
            yield f"refused {number} as {code}: {kind}"
            for finding in self.examples[code, kind][:1]:
                yield _shorten(finding.render())
        for finding in self.unsettled[:_MOST_EXAMPLES]:
            yield _shorten(finding.render())
        for finding in self.mismatches:
            yield finding.render()


def _shorten(text: str) -> str:
    return "\n".join(line[:_LONGEST_EXAMPLE] for line in text.splitlines()[:8])


def judge_corpus(
    stage: PostgresStage,
    principals: Sequence[Principal],
    rng: random.Random,
    *,
    most: int | None = None,
    progress: Callable[[str, Tally], None] = lambda name, tally: None,
) -> Tally:
    """Judges up to ``most`` queries of the stage's as each principal, all where it is None.

    Golds as they stand are always among them. Raises PolicyError, psycopg.Error.
    """
    tally, subject = Tally(), stage.subject
    queries = list_queries(subject.catalog, subject.golds)
    for principal in principals:
        judge_queries(stage.judge(principal), principal, _sample(queries, most, rng), tally)
        progress(principal.name, tally)
    return tally


def judge_queries(
    judge: Judge, principal: Principal, queries: Sequence[Query], tally: Tally
) -> None:
    """Judges the queries and adds the verdicts to ``tally``."""
    for query in queries:
        tally.add(Finding(principal.name, query, judge.judge(query.sql)))


def cut_catalog(catalog: Catalog, names: set[str]) -> Catalog:
    """The catalog with these tables only, and the keys between them."""
    return Catalog(
        catalog.database,
        tuple(table for table in catalog.tables if table.qualified in names),
        tuple(key for key in catalog.foreign_keys if {key.table, key.target} <= names),
        catalog.search_path,
        catalog.dialect,
    )


def _sample(queries: Sequence[Query], most: int | None, rng: random.Random) -> list[Query]:
    if most is None or len(queries) <= most:
        return list(queries)
    golds = [query for query in queries if query.kind == "gold"]
    others = [query for query in queries if query.kind != "gold"]
    kept = rng.sample(golds, min(len(golds), most))
    return [*kept, *rng.sample(others, most - len(kept))]
