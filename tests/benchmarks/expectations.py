"""Counts how often each term of the score takes points from a right query.

``python -m tests.benchmarks.expectations BENCHMARK [--sample N] [--show TERM]``: the gold queries
go through retrieval, planning and ranking as a model's candidates would, without a model. A gold is
right by definition, so a term that takes points from it is a false alarm. A rate that is much
higher on one benchmark than on another shows that the rule was fitted to the other.

``asked`` counts the questions to which a term applies: those that raise its expectation, contain
figures, or name tables or columns; for other terms, every question. ``--show`` prints the golds
from which a term takes points. Golds that the guard refuses or that do not run are counted and
left out.
"""

from __future__ import annotations

import argparse
import asyncio
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from data.benchmarks.load import load_benchmark
from data.benchmarks.types import Example
from nl2sql.expectations.expectations import read_expectations
from nl2sql.expectations.said_texts import list_numbers
from nl2sql.pipeline.assessor import CandidateAssessor
from nl2sql.settings import load_settings
from nl2sql.types import (
    Candidate,
    Plan,
    Principal,
    Question,
)
from serve_app.composition.local import LocalParts, open_parts
from serve_app.operations.benchmarks import prepare_benchmark
from serve_app.operations.measuring import draw_sample
from serve_app.reporting import Silence
from tests.fakes import StubEngine

_RAISED = {
    "columns": ("columns_differ", "width_differs"),
    "rows": ("limit_differs", "rows_differ"),
    "one_number": ("one_number_differs",),
    "count": ("count_missing",),
    "average": ("average_missing",),
    "grouped": ("group_by_missing", "group_by_matches"),
    "ordered": ("order_missing",),
    "best": ("best_missing", "order_and_limit_match"),
    "distinct": ("distinct_missing",),
    "negated": ("negation_missing",),
    "comparisons": ("comparison_differs",),
    "comparisons_either_way": ("comparison_differs",),
    "extremes": ("extreme_missing",),
    "both": ("both_missing",),
    "pattern": ("pattern_missing",),
}


@dataclass(frozen=True, slots=True)
class ScoredGold:
    """One gold: the terms that apply to its question, and the points of the terms that fired."""

    question: str
    sql: str
    asked: frozenset[str]
    points: dict[str, float]


def list_asked(question: str, plan: Plan) -> frozenset[str]:
    """The terms that apply to the question, of those that depend on it.

    >>> sorted(list_asked("Show the singers that are over 40.", Plan()))[:3]
    ['best_by_key', 'columns_differ', 'comparison_differs']
    """
    expected = read_expectations(question)
    asked = {term for field, terms in _RAISED.items() if getattr(expected, field) for term in terms}
    if not expected.distinct:
        asked.add("distinct_unasked")
    if (expected.descending, expected.highest) != (None, None):
        asked.add("direction_differs")
    if expected.columns and not expected.part:
        asked.add("limit_unasked")
    if expected.columns and not expected.keyed and not expected.timed:
        asked.add("best_by_key")
    if list_numbers(question):
        asked.add("numbers_missing")
    named = [link for link in plan.links.links if link.method == "name"]
    if any(not link.column for link in named):
        asked.add("tables_missed")
    if any(link.column for link in named):
        asked.add("links_missed")
    if len(plan.joins.tables) > 1:
        asked.add("join_match")
    return frozenset(asked)


def count_terms(scored: Iterable[ScoredGold]) -> list[tuple[str, int, int, int]]:
    """Term, questions asked, golds that get and golds that lose points, by name.

    >>> one = ScoredGold("Anything?", "SELECT 1", frozenset({"a"}), {"a": -25.0, "b": 15.0})
    >>> count_terms([one, ScoredGold("", "", frozenset(), {})])
    [('a', 1, 0, 1), ('b', 2, 1, 0)]
    """
    every = list(scored)
    asked = Counter(term for each in every for term in each.asked)
    gains = Counter(term for each in every for term, points in each.points.items() if points > 0)
    losses = Counter(term for each in every for term, points in each.points.items() if points < 0)
    return [
        (term, asked[term] or len(every), gains[term], losses[term])
        for term in sorted({*asked, *gains, *losses})
    ]


async def main(name: str, sample: int, shown: str) -> None:
    """Prints one line for each term."""
    settings = load_settings(Path("quorumsql.yaml"))
    benchmark = load_benchmark(name, configured=settings.databases)
    ready = await prepare_benchmark(settings, benchmark, Silence())
    examples = [
        example
        for example in draw_sample(benchmark, sample, seed=0)
        if example.database not in ready.benchmark.missing
    ]
    scored: list[ScoredGold] = []
    async with open_parts(ready.wiring, Silence(), engine=StubEngine()) as parts:
        for example in examples:
            if (one := await _score_gold(parts, example)) is not None:
                scored.append(one)
    print(f"{benchmark.name}: {len(scored)} golds, {len(examples) - len(scored)} left out")
    print(f"{'term':28} {'asked':>6} {'for':>6} {'against':>8}")
    for term, asked, gains, losses in count_terms(scored):
        print(f"{term:28} {asked:6} {gains:6} {losses:8} {losses / asked:7.1%}")
    for gold in scored:
        if gold.points.get(shown, 0.0) < 0:
            print(f"\n{gold.question}\n{gold.sql}")


async def _score_gold(parts: LocalParts, example: Example) -> ScoredGold | None:
    """The terms of the example's gold; None if it does not run."""
    settings = parts.wiring.settings
    question = Question(example.question, example.database, Principal("benchmark"), 1, 0, 100)
    _, context = await parts.build_retriever(settings).retrieve(question)
    plan = await parts.build_planner(settings).plan(question, context)
    ranker = parts.wiring.build_ranker(parts.guard, parts.executor)
    candidate = Candidate("gold", example.golds[0])
    assessor = CandidateAssessor(parts.guard, ranker)
    assessed = await assessor.guard_and_assess(question, candidate, context, plan)
    ranking = await ranker.rank(question, (assessed,), samples=1)
    (run,) = ranking.assessments
    if run.result is None:
        return None
    points = {term.name: term.value for term in run.score.terms}
    return ScoredGold(
        example.question, example.golds[0], list_asked(example.question, plan), points
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("benchmark")
    parser.add_argument("--sample", type=int, default=0, help="questions drawn; 0 takes all")
    parser.add_argument("--show", default="", help="a term whose false alarms are printed")
    chosen = parser.parse_args()
    asyncio.run(main(chosen.benchmark, chosen.sample, chosen.show))
