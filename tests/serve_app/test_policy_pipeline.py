"""A principal's question the whole way, the model alone being a fake."""

from __future__ import annotations

import pytest

from nl2sql.answers import Answer, Answered, Refused
from nl2sql.settings import Settings
from nl2sql.settings.identity import IdentitySettings
from nl2sql.types import Question
from serve_app.composition.local import open_parts
from serve_app.composition.wiring import Wiring
from serve_app.reporting import Silence
from tests.conftest import ROOT
from tests.fakes import FakeEngine

POLICY = ROOT / "data" / "demo_erp" / "policy.yaml"
IDENTITY = IdentitySettings.model_validate(
    {
        "local": {"roles": ["analyst"]},
        "principals": {
            "mia": {"roles": ["department_member"], "attributes": {"department_id": 31}},
            "max": {"roles": ["department_member"]},
            "eve": {"roles": ["nobody"]},
        },
    }
)


@pytest.fixture
def guarded(wiring: Wiring) -> Wiring:
    """The demo's wiring with its policy."""
    settings = wiring.settings
    database = settings.databases["demo_erp"].model_copy(update={"policy": POLICY})
    changed = settings.model_copy(
        update={"databases": {**settings.databases, "demo_erp": database}, "identity": IDENTITY}
    )
    return Wiring(changed, wiring.socket_folder)


async def ask(wiring: Wiring, name: str, text: str, *queries: str) -> tuple[Answer, FakeEngine]:
    settings: Settings = wiring.settings
    engine = FakeEngine(queries)
    question = Question(
        text, "demo_erp", settings.identity.principal(name), len(queries), seed=0, max_rows=50
    )
    async with open_parts(wiring, Silence(), engine=engine) as parts:
        return await parts.build_pipeline(settings).answer(question), engine


COUNT = "SELECT count(*) FROM employees"


async def test_each_principal_counts_the_own_rows(guarded: Wiring) -> None:
    everybody, _ = await ask(guarded, "local", "How many employees are there?", COUNT)
    mine, engine = await ask(guarded, "mia", "How many employees are there?", COUNT)
    assert isinstance(everybody, Answered)
    assert isinstance(mine, Answered)
    assert everybody.result.rows[0][0] > mine.result.rows[0][0] > 0  # type: ignore[operator]
    assert mine.sql == COUNT
    prompt = "\n".join(message.content for message in engine.requests[0].prompt.messages)
    assert "payslips" not in prompt
    assert "performance_reviews" not in prompt
    assert mine.trace.question.principal.name == "mia"
    assessment = mine.trace.ranking.assessments[0] if mine.trace.ranking else None
    assert assessment is not None
    assert "hr.employees" in assessment.verdict.predicates[0]  # type: ignore[union-attr]


async def test_what_is_withheld_is_no_empty_answer(guarded: Wiring) -> None:
    refused, _ = await ask(
        guarded, "mia", "What is the average pay in payslips?", "SELECT avg(net) FROM payslips"
    )
    assert isinstance(refused, Refused)
    assert refused.code == "not_permitted"
    assert "payslips" in refused.reason


async def test_rows_that_are_not_there_are_an_empty_answer(guarded: Wiring) -> None:
    empty, _ = await ask(
        guarded,
        "mia",
        "Which employees are in department 3?",
        "SELECT first_name FROM employees WHERE department_id = 3",
    )
    assert isinstance(empty, Answered)
    assert empty.result.rows == ()


async def test_who_may_see_nothing_costs_no_model_call(guarded: Wiring) -> None:
    refused, engine = await ask(guarded, "eve", "How many employees are there?", COUNT)
    assert isinstance(refused, Refused)
    assert refused.code == "not_permitted"
    assert engine.requests == []


async def test_a_draft_that_names_what_is_hidden_finds_nothing_of_it(guarded: Wiring) -> None:
    flags = guarded.settings.flags.model_copy(update={"pre_sql": True})
    settings = guarded.settings.model_copy(update={"flags": flags})
    engine = FakeEngine(["SELECT net FROM payslips"], [COUNT])
    question = Question(
        "How many are there?", "demo_erp", settings.identity.principal("mia"), 1, 0, max_rows=5
    )
    async with open_parts(guarded, Silence(), engine=engine) as parts:
        answer = await parts.build_pipeline(settings).answer(question)
    assert answer.trace.draft_query == "SELECT net FROM payslips"
    context = answer.trace.context
    assert context is not None
    assert "hr.payslips" not in [hit.table.qualified for hit in context.tables]
    for request in engine.requests:
        assert "payslips" not in "".join(message.content for message in request.prompt.messages)
