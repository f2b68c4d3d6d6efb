"""Cell values and glosses the whole way: found, shown in the prompt, in the trace, withheld."""

from __future__ import annotations

import psycopg
import pytest

from nl2sql.answers import Answer
from nl2sql.rendering import build_trace
from serve_app.composition.wiring import Wiring
from tests.serve_app.test_policy_pipeline import ask, guarded

__all__ = ["guarded"]

COUNT = "SELECT count(*) FROM employees"


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


def switch(wiring: Wiring, **flags: bool) -> Wiring:
    """The same wiring with these flags."""
    changed = wiring.settings.flags.model_copy(update=flags)
    return Wiring(wiring.settings.model_copy(update={"flags": changed}), wiring.socket_folder)


def prompt(answer: Answer) -> str:
    shown = answer.trace.prompt
    assert shown is not None
    return "\n".join(message.content for message in shown.messages)


async def test_a_value_is_shown_as_it_is_stored_to_whom_may_see_it(
    guarded: Wiring,
    stranger: str,
) -> None:
    question = f"How many employees are called {stranger.lower()}?"
    boss, _ = await ask(guarded, "local", question, COUNT)
    mia, _ = await ask(guarded, "mia", question, COUNT)
    assert stranger in prompt(boss)
    assert stranger in {match["value"] for match in build_trace(boss.trace).model_dump()["values"]}
    assert mia.trace.context is not None
    assert stranger not in prompt(mia)
    assert stranger not in repr(mia.trace.context)


async def test_values_of_a_filtered_table_stand_in_no_gloss(
    guarded: Wiring,
) -> None:
    question = "How many warehouses are there by type?"
    glossed = switch(guarded, glosses=True)
    boss, _ = await ask(glossed, "local", question, COUNT)
    mia, _ = await ask(glossed, "mia", question, COUNT)

    def enumerated(answer: Answer) -> set[str]:
        assert answer.trace.context is not None
        return {name for name, text in answer.trace.context.glosses if text.startswith("values:")}

    filtered = {"hr.employees", "hr.departments", "inventory.warehouses"}
    assert {name.rpartition(".")[0] for name in enumerated(boss)} & filtered
    assert not {name.rpartition(".")[0] for name in enumerated(mia)} & filtered
