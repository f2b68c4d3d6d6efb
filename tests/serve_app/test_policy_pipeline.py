"""A principal's question the whole way, the model alone being a fake.

Which cell values and definitions reach its prompt. Rows, tables and drafts are in
``tests/attacks/injections``, examples in ``http/test_ownership.py``, earlier questions in
``tests/retrieval``.
"""

from __future__ import annotations

import psycopg
import pytest

from nl2sql.answers import Answer
from nl2sql.types import Question
from serve_app.composition.local import open_parts
from serve_app.composition.wiring import Wiring
from serve_app.reporting import SilentReporter
from serve_app.service.rendering import build_trace
from serve_app.settings.identity import IdentitySettings
from tests.conftest import ROOT
from tests.fakes import FakeEngine

DEMO = ROOT / "data" / "demo_erp"
POLICY = DEMO / "policy.yaml"
IDENTITY = IdentitySettings.model_validate(
    {
        "local": {"roles": ["analyst"]},
        "principals": {
            "mia": {"roles": ["department_member"], "attributes": {"department_id": 31}},
        },
    }
)
COUNT = "SELECT count(*) FROM employees"
HOW_MANY = "How many employees are there?"


def change(wiring: Wiring, **database: object) -> Wiring:
    """The same wiring with these keys of the demo's database."""
    settings = wiring.settings
    demo = settings.databases["demo_erp"].model_copy(update=database)
    update = {
        "databases": {**settings.databases, "demo_erp": demo},
        "identity": IDENTITY,
    }
    return Wiring(settings.model_copy(update=update), wiring.socket_folder)


@pytest.fixture
def guarded(wiring: Wiring) -> Wiring:
    """The demo's wiring with its policy."""
    return change(wiring, policy=POLICY)


async def ask(wiring: Wiring, name: str, text: str, *said: str) -> tuple[Answer, FakeEngine]:
    """The answer, and the engine, which says one thing after the other."""
    settings = wiring.settings
    engine = FakeEngine(*([text] for text in said))
    who = IDENTITY.principal(name)
    question = Question(text, "demo_erp", who, 1, seed=0, max_rows=50, answer_text="rule")
    async with open_parts(wiring, SilentReporter(), engine=engine) as parts:
        return await parts.build_pipeline(settings).answer(question), engine


def read_prompts(engine: FakeEngine) -> str:
    return "\n".join(m.content for request in engine.requests for m in request.prompt.messages)


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
