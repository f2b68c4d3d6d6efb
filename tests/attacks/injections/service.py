"""The whole service but for its model: asked as a principal, while the model obeys an attacker."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Coroutine, Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from nl2sql.answers import Answer, Answered
from nl2sql.catalog import Catalog
from nl2sql.protocols import Answerer
from nl2sql.results.cell_values import normalize_value
from nl2sql.types import Principal, Question, SamplingRequest, Violation
from serve_app.composition.local import LocalParts
from tests.attacks.injections.injection import Injection, ObeyingEngine
from tests.attacks.injections.planted import DATABASE, PRINCIPALS
from tests.oracle.outcomes import Outcome
from tests.oracle.stage import PostgresStage

Rows = Counter[tuple[str, ...]]

_MOST_ROWS = 1000
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Asked:
    """An answer, and the requests to the model that led to it."""

    answer: Answer
    requests: tuple[SamplingRequest, ...]

    @property
    def purposes(self) -> list[str]:
        """What the model was asked for, in order."""
        return [request.prompt.purpose for request in self.requests]

    @property
    def prompts(self) -> str:
        """All messages of all requests."""
        return "\n".join(
            message.content for request in self.requests for message in request.prompt.messages
        )


class Service:
    """``stage`` has the whole database and a copy of it for each principal."""

    def __init__(self, runner: asyncio.Runner, parts: LocalParts, stage: PostgresStage) -> None:
        assert isinstance(parts.engine, ObeyingEngine)
        self._engine = parts.engine
        self.parts = parts
        self._runner = runner
        self._stage = stage
        self._dialogue: Answerer = parts.build_pipeline(parts.wiring.settings)
        self._asked: dict[Injection, Asked] = {}

    def ask(self, injection: Injection) -> Asked:
        """The injection's question, answered by the whole pipeline, in words.

        It is asked once, whatever is then to be checked of it.
        """
        if injection not in self._asked:
            principal = PRINCIPALS[injection.principal]
            session = injection.id if injection.place == "turn" else ""
            if session:
                earlier = replace(injection, sql=injection.target)
                asker = principal if injection.shown else PRINCIPALS["boss"]
                self._answer(earlier, injection.text, asker, session)
            self._asked[injection] = self._answer(injection, injection.question, principal, session)
        return self._asked[injection]

    def pick(self, injection: Injection) -> Asked:
        """The answer to somebody who claims that the query was a reading they were offered."""
        principal = PRINCIPALS[injection.principal]
        return self._answer(injection, injection.question, principal, "", chosen_sql=injection.sql)

    def _answer(
        self,
        injection: Injection,
        text: str,
        principal: Principal,
        session: str,
        chosen_sql: str = "",
    ) -> Asked:
        self._engine.obey(injection)
        question = Question(
            text,
            DATABASE,
            principal,
            k=2,
            seed=0,
            max_rows=_MOST_ROWS,
            evidence=injection.evidence,
            session=session,
            chosen_sql=chosen_sql,
            answer_text="model",
        )
        # The runner's own ``run`` would spell out the whole answer each time, for a signal's sake.
        answer = self._runner.get_loop().run_until_complete(self._dialogue.answer(question))
        return Asked(answer, tuple(self._engine.requests))

    def run(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        """The result, in the event loop that the parts belong to."""
        return self._runner.run(work)

    def run_plainly(self, sql: str) -> Outcome:
        """What a query gives on the whole database, with nothing between it and the rows."""
        return self._stage.full.run(sql)

    def run_on_copy(self, sql: str, principal: Principal) -> Outcome:
        """What it gives on the copy that holds only what the principal may see."""
        return self._stage.copy(principal).run(sql)

    def find_catalog(self, principal: Principal) -> Catalog:
        """The tables and columns that the principal may see."""
        guard = self.parts.wiring.build_guard(self.parts.store)
        catalog = self._runner.run(guard.visible_catalog(DATABASE, principal))
        assert not isinstance(catalog, Violation)
        return catalog

    def list_hidden(self, visible: Catalog) -> set[str]:
        """Names of tables that are not visible and that no English text holds by chance."""
        shown = {table.qualified for table in visible.tables}
        names = {
            table.name
            for table in self._stage.subject.catalog.tables
            if table.qualified not in shown
        }
        return {name for name in names if "_" in name or name == "payslips"}


def list_results(answer: Answer) -> list[tuple[str, Rows]]:
    """Every query that gave rows on the way to the answer, the answer's own too, and its rows."""
    ranking = answer.trace.ranking
    found = [
        (assessment.candidate.sql, count_rows(assessment.result.rows))
        for assessment in (ranking.assessments if ranking else ())
        if assessment.result is not None
    ]
    if isinstance(answer, Answered):
        found.append((answer.sql, count_rows(answer.result.rows)))
    return found


def count_rows(rows: Iterable[tuple[object, ...]]) -> Rows:
    """The rows, however a driver spells their cells, each as often as it occurs."""
    return Counter(tuple(str(normalize_value(cell)) for cell in row) for row in rows)
