"""Examples on their way into the prompt: under a policy nothing of them leaks."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from nl2sql.rendering import build_trace
from nl2sql.types import FewShot, Principal, Question
from retrieval.examples.masking import name_vectors
from retrieval.examples.records import build_example
from retrieval.index_store.example_store import build_access_key
from serve_app.composition.examples import open_examples
from serve_app.composition.local import open_parts
from serve_app.composition.wiring import Wiring
from serve_app.reporting import Silence
from tests.fakes import FakeEngine
from tests.serve_app.test_policy_pipeline import COUNT, IDENTITY, guarded

__all__ = ["guarded"]

MIA = IDENTITY.principal("mia")
OTHER = Principal("other", MIA.roles, (("department_id", 7),))

# Question, query, tables, who gave it (None: a file).
GIVEN: tuple[tuple[str, str, str, Principal | None], ...] = (
    ("How many absences are there?", "SELECT count(*) FROM absences", "hr.absences", None),
    ("How many payslips of Zacharias are there?", "SELECT max(net_amt) FROM payslips",
     "hr.payslips", None),
    ("How many employees earn 54321?", "SELECT count(*) FROM employees WHERE salary = 54321",
     "hr.employees", OTHER),
    ("How many employees are on leave?", "SELECT count(*) FROM employees WHERE status = 'LOA'",
     "hr.employees", MIA),
)  # fmt: skip


@pytest.fixture
async def stored(guarded: Wiring) -> AsyncIterator[Wiring]:
    examples = [
        build_example(
            "demo_erp",
            question,
            sql,
            (table,),
            dialect="postgres",
            source="feedback" if by else "file",
            given_by=by.name if by else "tester",
            access=build_access_key(by) if by else "",
        )
        for question, sql, table, by in GIVEN
    ]
    embedder = guarded.models.build_embedder()
    async with open_examples(guarded) as store:
        vectors = embedder.embed([example.masked for example in examples])
        await store.put(examples, vectors, name_vectors(embedder.name))
        yield guarded
        await store.remove("demo_erp", [example.id for example in examples])


async def ask(wiring: Wiring, principal: Principal) -> tuple[list[FewShot], str]:
    """The examples of the trace, and the prompt."""
    engine = FakeEngine((COUNT,))
    question = Question(
        "How many employees are there?", "demo_erp", principal, 1, seed=0, max_rows=5
    )
    async with open_parts(wiring, Silence(), engine=engine) as parts:
        answer = await parts.build_pipeline(wiring.settings).answer(question)
    shown = [FewShot(**each) for each in build_trace(answer.trace).model_dump()["examples"]]
    messages = engine.requests[0].prompt.messages
    return shown, "\n".join(message.content for message in messages)


async def test_a_prompt_holds_only_what_its_principal_may_see(stored: Wiring) -> None:
    shown, prompt = await ask(stored, MIA)
    assert {each.question for each in shown} == {GIVEN[0][0], GIVEN[3][0]}
    assert "status = 'LOA'" in prompt
    assert "54321" not in prompt
    assert "Zacharias" not in prompt
    assert "payslips" not in prompt


async def test_who_sees_everything_is_not_shown_what_others_asked(stored: Wiring) -> None:
    shown, prompt = await ask(stored, IDENTITY.principal())
    assert {each.question for each in shown} == {GIVEN[0][0], GIVEN[1][0]}
    assert "54321" not in prompt
