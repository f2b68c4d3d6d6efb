"""Compares a system's candidates with the gold results.

Gold queries run through the same guard and executor as everything else; a gold query that is
refused or fails is reported. Results of which the vote read only a page are fetched again here, so
that complete results of the database are compared. Knows nothing of runs and files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from data.benchmarks.types import Example
from evaluation.runs.records import CandidateRecord, Preview, QuestionRecord, RepairRecord
from nl2sql.protocols import Executor, Guard
from nl2sql.results.equivalence import are_equivalent
from nl2sql.results.json_values import to_json_value
from nl2sql.sql.parsing import find_tree
from nl2sql.types import Diagnostic, Principal, ResultSet, Violation
from quorumsql.contract import AnsweredResponse, QueryResponse
from quorumsql.contract.trace import CandidateResponse, TraceResponse

# The default principal, for databases without a policy.
_NOBODY = Principal("evaluation")

# Complete results are compared; a gold query with more rows than this is reported as failing.
MOST_ROWS = 1_000_000
# What the record of a candidate takes from the trace.
_SHARED = set("id sql origin repairs derived_from rule samples votes group".split())
_PREVIEW_ROWS = 10
_PREVIEW_CELL = 120


@dataclass(frozen=True, slots=True)
class SystemResponse:
    """The response of the system under test to one question.

    ``answer`` has its trace; ``results`` holds the results by candidate, with the database's own
    values, if the system can provide them.
    """

    answer: QueryResponse
    results: Mapping[str, ResultSet] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Gold:
    """The results of the gold queries that ran, each with whether its row order counts."""

    results: tuple[tuple[ResultSet, bool], ...]
    error: str = ""

    def matches(self, rows: Sequence[Sequence[object]]) -> bool:
        """True when ``rows`` are equivalent to any of the gold results."""
        return any(are_equivalent(gold.rows, rows, ordered=order) for gold, order in self.results)


class Judge:
    """Runs gold queries and judges responses; gold results are cached for several runs."""

    def __init__(
        self,
        guard: Guard,
        executor: Executor,
        missing: Mapping[str, str] = MappingProxyType({}),
        principal: Principal = _NOBODY,
    ) -> None:
        """``missing``: database → why it is unavailable. ``principal`` asks all questions."""
        self.principal = principal
        self._missing = missing
        self._guard = guard
        self._executor = executor
        self._golds: dict[tuple[str, str], tuple[ResultSet, bool] | str] = {}

    async def gold(self, example: Example) -> Gold:
        """The gold results, or the reason why there are none. Raises Unavailable."""
        return await self._run_golds(example.database, example.golds)

    async def judge(
        self, example: Example, response: SystemResponse, *, evidence: bool, seconds: float
    ) -> QuestionRecord:
        """The record of one question. Raises Unavailable."""
        gold = await self.gold(example)
        answer, trace = response.answer, response.answer.trace
        assert trace is not None, "the evaluation asks for traces"
        results = await self._fetch_results(example, trace.candidates, response.results)
        right = {name: gold.matches(result.rows) for name, result in results.items()}
        # The answer is the first candidate with a result; a clarification gives none.
        answered = answer if isinstance(answer, AnsweredResponse) else None
        winner = next((found.id for found in trace.candidates if found.id in results), "")
        result = results.get(winner) if answered else None
        accepted = right.get(winner, False)
        if winner and example.accepted:
            judged = await self._run_golds(example.database, example.accepted)
            accepted = judged.matches(results[winner].rows)
        return QuestionRecord(
            **_describe_example(example, gold, evidence),
            outcome=answer.outcome,
            reason="" if isinstance(answer, AnsweredResponse) else answer.reason,
            sql=answered.sql if answered else "",
            result=_preview(result),
            k=trace.samples or 1,
            confidence=getattr(answer, "confidence", 0.0),
            quorum=bool(answered and answered.quorum),
            correct=bool(answered) and right.get(winner, False),
            accepted=accepted,
            candidates=tuple(
                _build_candidate(candidate, right.get(candidate.id, False))
                for candidate in trace.candidates
            ),
            repairs=_build_repairs(trace, right),
            stages_ms={stage.stage: stage.ms for stage in trace.stages},
            prompt_tokens=sum(stage.prompt_tokens for stage in trace.stages),
            completion_tokens=sum(stage.completion_tokens for stage in trace.stages),
            seconds=round(seconds, 3),
            trace=trace.model_dump(),
        )

    async def describe_failure(
        self, example: Example, *, evidence: bool, k: int, reason: str, seconds: float
    ) -> QuestionRecord:
        """The record of a question that cannot be judged: its gold or the system failed.

        ``k`` is the most candidates that it could have had.
        """
        gold = await self.gold(example)
        return QuestionRecord(
            **_describe_example(example, gold, evidence),
            reason=reason,
            k=k,
            seconds=round(seconds, 3),
        )

    async def _run_golds(self, database: str, queries: tuple[str, ...]) -> Gold:
        if reason := self._missing.get(database):
            return Gold((), f"the database is missing: {reason}")
        results = []
        problems = []
        for query in queries:
            if (database, query) not in self._golds:
                self._golds[database, query] = await self._run_gold(database, query)
            gold = self._golds[database, query]
            if isinstance(gold, str):
                problems.append(gold)
            else:
                results.append(gold)
        return Gold(tuple(results), "" if results else problems[0])

    async def _run_gold(self, database: str, query: str) -> tuple[ResultSet, bool] | str:
        ran = await self._run(database, query)
        if isinstance(ran, str):
            return ran
        result, dialect = ran
        if result.truncated or result.cut:
            return f"the result has more than {MOST_ROWS:,} rows, or too many bytes"
        return result, has_top_level_order(query, dialect)

    async def _fetch_results(
        self,
        example: Example,
        candidates: Sequence[CandidateResponse],
        given: Mapping[str, ResultSet],
    ) -> dict[str, ResultSet]:
        """The complete results of all candidates that have one."""
        results = {}
        for candidate in candidates:
            if candidate.rows is None:
                continue
            whole = given.get(candidate.id)
            if whole is None or whole.truncated or whole.cut:
                again = await self._run(example.database, candidate.sql)
                whole = None if isinstance(again, str) else again[0]
            if whole is not None:
                results[candidate.id] = whole
        return results

    async def _run(self, database: str, sql: str) -> tuple[ResultSet, str] | str:
        """The complete result and the SQL dialect, or the error text."""
        verdict = await self._guard.guard(database, sql, self.principal)
        if isinstance(verdict, Violation):
            return f"refused by the guard: {verdict.code}: {verdict.message}"
        result = await self._executor.execute(verdict, MOST_ROWS)
        if isinstance(result, Diagnostic):
            return f"{result.sqlstate}: {result.message}"
        return result, verdict.dialect


def has_top_level_order(sql: str, dialect: str) -> bool:
    """True when the outermost query orders its rows.

    >>> has_top_level_order("SELECT x FROM (SELECT x FROM t ORDER BY x) AS s", "postgres")
    False
    """
    tree = find_tree(sql, dialect)
    return tree is not None and bool(tree.args.get("order"))


def _describe_example(example: Example, gold: Gold, evidence: bool) -> dict[str, Any]:
    """The fields of a record about the question and its gold."""
    return {
        "id": example.id,
        "database": example.database,
        "question": example.question,
        "evidence": example.evidence if evidence else "",
        "difficulty": example.difficulty,
        "gold": example.golds[0],
        "gold_error": gold.error,
        "gold_result": _preview(gold.results[0][0] if gold.results else None),
    }


def _build_candidate(candidate: CandidateResponse, correct: bool) -> CandidateRecord:
    error = ""
    if candidate.violation:
        error = f"{candidate.violation.code}: {candidate.violation.message}"
    elif candidate.error:
        error = f"{candidate.error.sqlstate}: {candidate.error.message}"
    own = {"score": candidate.score.total, "error": error, "correct": correct}
    return CandidateRecord(**candidate.model_dump(include=_SHARED), **own)


def _build_repairs(trace: TraceResponse, right: Mapping[str, bool]) -> tuple[RepairRecord, ...]:
    repaired = {made.repairs: made.id for made in trace.candidates if made.repairs}
    return tuple(
        RepairRecord(
            **repair.model_dump(exclude={"attempt"}),
            correct_before=right.get(repair.candidate, False),
            correct_after=right.get(repaired.get(repair.candidate, ""), False),
        )
        for repair in trace.repairs
    )


def _preview(result: ResultSet | None) -> Preview:
    if result is None:
        return Preview()
    return Preview(
        columns=result.columns,
        rows=tuple(
            tuple(_shorten(to_json_value(value)) for value in row)
            for row in result.rows[:_PREVIEW_ROWS]
        ),
        rows_in_all=len(result.rows),
    )


def _shorten(value: Any) -> Any:
    if isinstance(value, list | dict):
        value = str(value)
    if isinstance(value, str) and len(value) > _PREVIEW_CELL:
        return f"{value[:_PREVIEW_CELL]}…"
    return value
