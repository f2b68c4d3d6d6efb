"""Measures the effect of repair by rule on right queries and on damaged ones, without a model.

``python -m tests.benchmarks.repairs BENCHMARK [--sample N] [--seed S] [--config quorumsql.yaml]
[--failures FILE]``. N golds, spread evenly over the databases:

- **Harm.** Each gold is passed to the repairer with an invented error, so that the rules see a
  right query. The output counts the golds that the rules change, and those whose result changes.
- **Healing.** Each gold is damaged in every way of ``tests.benchmarks.damages`` that fits it. As in
  the service, queries that still run are not repaired; the others are, in as many rounds, and the
  results are compared with the gold's. ``--failures`` writes those that did not become right as
  JSON lines.

The schema context is the whole database with its declared and inferred keys, the plan is empty, and
no cell values are known; the service has a plan and values, and fewer tables.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random

import sqlglot
from sqlglot.errors import SqlglotError

from data.benchmarks.types import Example
from evaluation.metrics.judge import Gold
from nl2sql.types import (
    Assessment,
    Candidate,
    Diagnostic,
    GuardedQuery,
    Repair,
    SchemaContext,
    Violation,
)
from repair.autocorrect.table_lookup import TableLookup
from repair.repairer import CandidateRepairer
from tests.benchmarks.damages import DAMAGES
from tests.benchmarks.golds import GoldBench, open_gold_bench
from tests.fakes import FakeEngine, build_question

_MOST_ROWS = 10_000
_MADE_UP = Diagnostic("42703", "A column does not exist.")


@dataclass(frozen=True, slots=True)
class Attempt:
    """A damaged gold and its outcome.

    ``state`` is ``runs`` (the damage broke nothing), ``kept`` (no rule applied), or the result of
    the repair: ``fails``, ``wrong`` or ``right``.
    """

    id: str
    damage: str
    state: str
    rules: tuple[str, ...]
    gold: str
    damaged: str
    error: str = ""
    repaired: str = ""


@dataclass
class Harm:
    """Right queries passed to the rules, and the rules that changed their results."""

    seen: int = 0
    changed: Counter[str] = field(default_factory=Counter)
    harmed: list[tuple[str, tuple[str, ...], str, str]] = field(default_factory=list)


class RepairBench:
    """Repairs as the service does, over one benchmark's databases."""

    def __init__(self, bench: GoldBench) -> None:
        self._bench = bench
        settings = bench.wiring.settings
        self._rounds = settings.repair.rounds
        self._repairer = CandidateRepairer(FakeEngine(), settings)

    async def measure_harm(self, examples: Iterable[Example]) -> Harm:
        """Passes right queries to the rules. Raises DatabaseUnavailable."""
        harm = Harm()
        for example in examples:
            gold = await self._bench.judge.gold(example)
            if gold.error:
                continue
            harm.seen += 1
            context = await self._bench.catalogs.context(example.database)
            right = Assessment(
                Candidate("c1", example.golds[0]),
                GuardedQuery(example.database, example.golds[0], ()),
                diagnostic=_MADE_UP,
            )
            made, repair = await self._repair(example, context, right, ())
            if made is None:
                continue
            harm.changed.update(repair.rules)
            after = await self._run(example, made)
            if after.result is None or not gold.matches(after.result.rows):
                harm.harmed.append((example.id, repair.rules, example.golds[0], made.sql))
        return harm

    async def heal(self, example: Example, seed: int) -> list[Attempt]:
        """Repairs the gold after every damage that fits it. Raises DatabaseUnavailable."""
        gold = await self._bench.judge.gold(example)
        if gold.error:
            return []
        context = await self._bench.catalogs.context(example.database)
        attempts = []
        for damage in DAMAGES:
            try:
                tree = sqlglot.parse_one(example.golds[0], dialect=context.dialect)
            except SqlglotError:
                return []
            random = Random(f"{seed} {example.id} {damage.__name__}")
            damaged = damage(tree, TableLookup(context), random)
            if damaged is not None:
                attempts.append(await self._heal(example, gold, context, damage.__name__, damaged))
        return attempts

    async def _heal(
        self, example: Example, gold: Gold, context: SchemaContext, damage: str, damaged: str
    ) -> Attempt:
        failed = await self._run(example, Candidate("c1", damaged))
        error = _describe(failed)
        state = "kept" if failed.failed else "runs"
        history: list[Assessment] = []
        rules: dict[str, None] = {}
        while failed.failed and len(history) < self._rounds:
            made, repair = await self._repair(example, context, failed, tuple(history))
            if made is None:
                break
            rules.update(dict.fromkeys(repair.rules))
            history.append(failed)
            failed = await self._run(example, made)
            state = "fails"
        if failed.result is not None and history:
            state = "right" if gold.matches(failed.result.rows) else "wrong"
        repaired = failed.candidate.sql if history else ""
        return Attempt(
            example.id, damage, state, tuple(rules), example.golds[0], damaged, error, repaired
        )

    async def _repair(
        self,
        example: Example,
        context: SchemaContext,
        failed: Assessment,
        history: tuple[Assessment, ...],
    ) -> tuple[Candidate | None, Repair]:
        return await self._repairer.repair(
            build_question(text=example.question, database=example.database),
            context,
            failed,
            ask_model=False,
            history=history,
        )

    async def _run(self, example: Example, candidate: Candidate) -> Assessment:
        judge = self._bench.judge
        verdict = await self._bench.guard.guard(example.database, candidate.sql, judge.principal)
        if isinstance(verdict, Violation):
            return Assessment(candidate, verdict)
        result = await self._bench.executor.execute(verdict, _MOST_ROWS)
        if isinstance(result, Diagnostic):
            return Assessment(candidate, verdict, diagnostic=result)
        return Assessment(candidate, verdict, result=result)


def draw_golds(examples: Sequence[Example], number: int, seed: int) -> list[Example]:
    """``number`` examples, the databases in turn, each database's in a random order."""
    random = Random(seed)
    waiting: dict[str, list[Example]] = defaultdict(list)
    for example in random.sample(examples, len(examples)):
        waiting[example.database].append(example)
    drawn: list[Example] = []
    while len(drawn) < number and any(waiting.values()):
        drawn += [queue.pop() for _, queue in sorted(waiting.items()) if queue]
    return drawn[:number]


def render_healing(attempts: Sequence[Attempt]) -> str:
    """Two tables: the outcomes by kind of damage, and by rule."""
    states = ("kept", "fails", "wrong", "right")
    lines = [f"{'damage':22} {'runs':>6} {'broken':>7} " + " ".join(f"{s:>6}" for s in states)]
    by_damage: dict[str, Counter[str]] = defaultdict(Counter)
    by_rule: dict[str, Counter[str]] = defaultdict(Counter)
    for attempt in attempts:
        by_damage[attempt.damage][attempt.state] += 1
        for rule in attempt.rules:
            by_rule[rule][attempt.state] += 1
    total = Counter(attempt.state for attempt in attempts)
    for name, counts in [*by_damage.items(), ("all", total)]:
        broken = counts.total() - counts["runs"]
        share = f"{counts['right'] / broken:7.1%}" if broken else ""
        cells = " ".join(f"{counts[state]:6}" for state in states)
        lines.append(f"{name:22} {counts['runs']:6} {broken:7} {cells} {share}")
    lines.append(f"\n{'rule':22} {'fails':>6} {'wrong':>6} {'right':>6}")
    for name, counts in sorted(by_rule.items(), key=lambda entry: -entry[1]["right"]):
        lines.append(f"{name:22} " + " ".join(f"{counts[state]:6}" for state in states[1:]))
    return "\n".join(lines)


def render_harm(harm: Harm) -> str:
    """The number of right queries that were changed, by rule, and of changed results."""
    rules = ", ".join(f"{name} {count}" for name, count in harm.changed.most_common()) or "none"
    lines = [
        f"{harm.seen} right queries, results changed: {len(harm.harmed)}",
        f"rules that changed one: {rules}",
    ]
    lines += [
        f"  {name} {', '.join(rules)}\n    {before}\n    {after}"
        for name, rules, before, after in harm.harmed
    ]
    return "\n".join(lines)


async def measure(bench: GoldBench, number: int, seed: int) -> list[Attempt]:
    """Prints both parts, and returns the attempts."""
    examples = draw_golds(bench.benchmark.examples, number, seed)
    repairs = RepairBench(bench)
    print(render_harm(await repairs.measure_harm(examples)), flush=True)
    attempts = [each for example in examples for each in await repairs.heal(example, seed)]
    await bench.executor.close()
    print(f"\n{render_healing(attempts)}")
    return attempts


def main() -> None:
    """Reads the arguments."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("benchmark")
    parser.add_argument("--sample", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--config", type=Path, default=Path("quorumsql.yaml"))
    parser.add_argument("--failures", type=Path)
    asked = parser.parse_args()
    with open_gold_bench(asked.benchmark, asked.config) as bench:
        attempts = asyncio.run(measure(bench, asked.sample, asked.seed))
    if asked.failures is not None:
        lost = [attempt for attempt in attempts if attempt.state not in ("right", "runs")]
        text = "".join(f"{json.dumps(asdict(each), ensure_ascii=False)}\n" for each in lost)
        asked.failures.write_text(text, encoding="utf-8")


def _describe(failed: Assessment) -> str:
    if isinstance(failed.verdict, Violation):
        return f"{failed.verdict.code}: {failed.verdict.message}"
    return f"{failed.diagnostic.sqlstate}: {failed.diagnostic.message}" if failed.diagnostic else ""


if __name__ == "__main__":
    main()
