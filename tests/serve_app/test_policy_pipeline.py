"""A principal's question the whole way, the model alone being a fake.

What it may not see reaches neither its rows nor its prompt: tables, cell values, definitions,
examples and earlier questions.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import psycopg
import pytest

from nl2sql.answers import Answer, Answered, Refused
from nl2sql.rendering import build_trace
from nl2sql.settings.identity import IdentitySettings
from nl2sql.types import Principal, Question
from retrieval.examples.records import build_example, name_vectors
from retrieval.index_store.example_store import build_access_key
from serve_app.composition.examples import open_examples
from serve_app.composition.local import open_parts
from serve_app.composition.wiring import Wiring
from serve_app.reporting import SilentReporter
from tests.conftest import ROOT
from tests.fakes import FakeEngine

DEMO = ROOT / "data" / "demo_erp"
POLICY = DEMO / "policy.yaml"
IDENTITY = IdentitySettings.model_validate(
    {
        "local": {"roles": ["analyst"]},
        "principals": {
            "mia": {"roles": ["department_member"], "attributes": {"department_id": 31}},
            "eve": {"roles": ["nobody"]},
        },
    }
)
LOCAL, MIA = IDENTITY.principal(), IDENTITY.principal("mia")
COUNT = "SELECT count(*) FROM employees"
HOW_MANY = "How many employees are there?"


def change(wiring: Wiring, *, flags: dict[str, bool] | None = None, **database: object) -> Wiring:
    """The same wiring with these flags and keys of the demo's database."""
    settings = wiring.settings
    demo = settings.databases["demo_erp"].model_copy(update=database)
    update = {
        "databases": {**settings.databases, "demo_erp": demo},
        "flags": settings.flags.model_copy(update=flags or {}),
        "identity": IDENTITY,
    }
    return Wiring(settings.model_copy(update=update), wiring.socket_folder)


@pytest.fixture
def guarded(wiring: Wiring) -> Wiring:
    """The demo's wiring with its policy."""
    return change(wiring, policy=POLICY)


async def ask(
    wiring: Wiring,
    principal: str | Principal,
    text: str,
    *said: str,
    k: int = 1,
    session: str = "",
) -> tuple[Answer, FakeEngine]:
    """The answer, and the engine: each request gets ``k`` of what is said."""
    settings = wiring.settings
    engine = FakeEngine(*(said[at : at + k] for at in range(0, len(said), k)))
    who = IDENTITY.principal(principal) if isinstance(principal, str) else principal
    question = Question(
        text, "demo_erp", who, k, seed=0, max_rows=50, session=session, answer_text="rule"
    )
    async with open_parts(wiring, SilentReporter(), engine=engine) as parts:
        return await parts.build_pipeline(settings).answer(question), engine


def read_prompts(engine: FakeEngine) -> str:
    return "\n".join(m.content for request in engine.requests for m in request.prompt.messages)


# -- rows ------------------------------------------------------------------------------------------


async def test_each_principal_counts_the_own_rows(guarded: Wiring) -> None:
    everybody, _ = await ask(guarded, "local", HOW_MANY, COUNT)
    mine, engine = await ask(guarded, "mia", HOW_MANY, COUNT)
    assert isinstance(everybody, Answered)
    assert isinstance(mine, Answered)
    assert everybody.result.rows[0][0] > mine.result.rows[0][0] > 0  # type: ignore[operator]
    assert mine.sql == COUNT
    assert "payslips" not in read_prompts(engine)
    assert "performance_reviews" not in read_prompts(engine)
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
    query = "SELECT first_name FROM employees WHERE department_id = 3"
    empty, _ = await ask(guarded, "mia", "Which employees are in department 3?", query)
    assert isinstance(empty, Answered)
    assert empty.result.rows == ()


async def test_who_may_see_nothing_costs_no_model_call(guarded: Wiring) -> None:
    refused, engine = await ask(guarded, "eve", HOW_MANY, COUNT)
    assert isinstance(refused, Refused)
    assert refused.code == "not_permitted"
    assert engine.requests == []


async def test_a_draft_that_names_what_is_hidden_finds_nothing_of_it(guarded: Wiring) -> None:
    drafting = change(guarded, flags={"pre_sql": True})
    draft = "SELECT net FROM payslips"
    answer, engine = await ask(drafting, "mia", "How many are there?", draft, COUNT)
    assert answer.trace.draft_query == draft
    context = answer.trace.context
    assert context is not None
    assert "hr.payslips" not in [hit.table.qualified for hit in context.tables]
    assert "payslips" not in read_prompts(engine)


# -- values, glosses, definitions ------------------------------------------------------------------


@pytest.fixture
def stranger(wiring: Wiring) -> str:
    """The last name of somebody who is not of mia's department, nor a namesake of one who is."""
    with psycopg.connect(wiring.reader_url("demo_erp")) as connection:
        row = connection.execute(
            "SELECT max(last_name) FROM hr.employees e WHERE length(last_name) > 6 AND NOT EXISTS"
            " (SELECT FROM hr.employees o WHERE o.last_name = e.last_name"
            " AND o.department_id = 31)"
        ).fetchone()
    assert row is not None
    return str(row[0])


async def test_a_value_is_shown_as_it_is_stored_to_whom_may_see_it(
    guarded: Wiring, stranger: str
) -> None:
    question = f"How many employees are called {stranger.lower()}?"
    boss, boss_engine = await ask(guarded, "local", question, COUNT)
    mia, mia_engine = await ask(guarded, "mia", question, COUNT)
    assert stranger in read_prompts(boss_engine)
    assert stranger in {match["value"] for match in build_trace(boss.trace).model_dump()["values"]}
    assert mia.trace.context is not None
    assert stranger not in read_prompts(mia_engine)
    assert stranger not in repr(mia.trace.context)


async def test_values_of_a_filtered_table_stand_in_no_gloss(guarded: Wiring) -> None:
    question = "How many warehouses are there by type?"
    glossed = change(guarded, flags={"glosses": True})
    filtered = {"hr.employees", "hr.departments", "inventory.warehouses"}

    async def list_enumerated(name: str) -> set[str]:
        answer, _ = await ask(glossed, name, question, COUNT)
        assert answer.trace.context is not None
        glosses = answer.trace.context.glosses
        return {at.rpartition(".")[0] for at, text in glosses if text.startswith("values:")}

    assert await list_enumerated("local") & filtered
    assert not await list_enumerated("mia") & filtered


async def test_a_definition_reaches_whom_may_see_what_it_reads(guarded: Wiring) -> None:
    defined = change(guarded, semantics=DEMO / "semantics.yaml")
    question = "What is the headcount, and what was the revenue?"
    query = "SELECT count(*) FROM employees AS e WHERE e.status <> 'TRM'"
    boss, boss_engine = await ask(defined, "local", question, query)
    mia, mia_engine = await ask(defined, "mia", question, query)
    headcount = "headcount: count(*) WHERE employees.status <> 'TRM'"
    assert headcount in read_prompts(boss_engine)
    assert "revenue: sum(invoices.net_amt) WHERE invoices.status <> 'VOI'" in read_prompts(
        boss_engine
    )
    # She sees employees, and no invoices.
    assert headcount in read_prompts(mia_engine)
    assert "invoices" not in read_prompts(mia_engine)
    assert "invoices" not in repr(mia.trace.context)
    used = {found.name: found.used for found in build_trace(boss.trace).definitions}
    assert used == {"headcount": True, "revenue": False}


# -- examples --------------------------------------------------------------------------------------

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


@pytest.mark.parametrize(
    ("name", "shown", "hidden"),
    [
        ("mia", (0, 3), ("54321", "Zacharias", "payslips")),
        # Who sees everything is not shown what others asked.
        ("local", (0, 1), ("54321",)),
    ],
)
async def test_a_prompt_holds_only_examples_that_its_principal_may_see(
    stored: Wiring, name: str, shown: tuple[int, ...], hidden: tuple[str, ...]
) -> None:
    answer, engine = await ask(stored, name, HOW_MANY, COUNT)
    found = {each["question"] for each in build_trace(answer.trace).model_dump()["examples"]}
    assert found == {GIVEN[at][0] for at in shown}
    assert GIVEN[shown[1]][1] in read_prompts(engine)
    assert not [word for word in hidden if word in read_prompts(engine)]


# -- sessions --------------------------------------------------------------------------------------

HIRED = "How many employees were hired in {}?"
HIRED_SQL = "SELECT count(*) FROM employees WHERE extract(year FROM hire_dt) = {}"


@pytest.fixture
async def kept(wiring: Wiring) -> AsyncIterator[None]:
    """No session is left over."""
    yield
    async with open_parts(wiring, SilentReporter(), engine=FakeEngine()) as parts:
        await wiring.build_conversations(parts.store, parts.guard).clear()


async def test_a_follow_up_finds_its_session_in_another_process(wiring: Wiring, kept: None) -> None:
    first, _ = await ask(wiring, LOCAL, HIRED.format(2023), HIRED_SQL.format(2023), session="s")
    assert isinstance(first, Answered), first
    assert first.text.startswith("Answer: ")
    second, engine = await ask(
        wiring, LOCAL, "And in 2022?", HIRED.format(2022), HIRED_SQL.format(2022), session="s"
    )
    assert isinstance(second, Answered), second
    assert second.trace.question.text == HIRED.format(2022)
    assert HIRED.format(2023) in engine.requests[0].prompt.messages[0].content
    # No cell of the earlier answer, only its question and its query.
    assert first.text.removeprefix("Answer: ") not in read_prompts(engine)


async def test_another_principal_sees_nothing_of_a_session(guarded: Wiring, kept: None) -> None:
    await ask(guarded, LOCAL, HIRED.format(2023), HIRED_SQL.format(2023), session="s")
    answer, engine = await ask(guarded, MIA, "And in 2022?", HIRED_SQL.format(2022), session="s")
    assert answer.trace.asked == ""
    assert "2023" not in read_prompts(engine)


async def test_what_was_withheld_since_takes_the_session_with_it(
    wiring: Wiring, guarded: Wiring, kept: None
) -> None:
    pay = "SELECT avg(net_amt) FROM payslips"
    paid, _ = await ask(wiring, MIA, "What is the average pay in payslips?", pay, session="s")
    assert isinstance(paid, Answered), paid
    later, engine = await ask(
        guarded, MIA, "And of employees?", HIRED_SQL.format(2022), session="s"
    )
    assert later.trace.asked == ""
    assert "payslips" not in read_prompts(engine)
    assert "net_amt" not in read_prompts(engine)
