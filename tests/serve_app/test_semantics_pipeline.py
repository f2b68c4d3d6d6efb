"""Definitions the whole way: found, shown in the prompt, in text and trace, withheld."""

from __future__ import annotations

from nl2sql.answers import Answered
from nl2sql.rendering import build_trace
from serve_app.composition.wiring import Wiring
from tests.conftest import ROOT
from tests.serve_app.test_policy_pipeline import ask, guarded
from tests.serve_app.test_values_pipeline import prompt

__all__ = ["guarded"]

QUESTION = "What is the headcount, and what was the revenue?"
QUERY = "SELECT count(*) FROM employees AS e WHERE e.status <> 'TRM'"


def define(wiring: Wiring) -> Wiring:
    """The same wiring with the demo's definitions."""
    settings = wiring.settings
    path = ROOT / "data" / "demo_erp" / "semantics.yaml"
    demo = settings.databases["demo_erp"].model_copy(update={"semantics": path})
    changed = settings.model_copy(update={"databases": {**settings.databases, "demo_erp": demo}})
    return Wiring(changed, wiring.socket_folder)


async def test_a_definition_reaches_whom_may_see_what_it_reads(guarded: Wiring) -> None:
    defined = define(guarded)
    boss, _ = await ask(defined, "local", QUESTION, QUERY)
    mia, _ = await ask(defined, "mia", QUESTION, QUERY)
    headcount = "headcount: count(*) WHERE employees.status <> 'TRM'"
    revenue = "revenue: sum(invoices.net_amt) WHERE invoices.status <> 'VOI'"
    assert headcount in prompt(boss)
    assert revenue in prompt(boss)
    # She sees employees, and no invoices.
    assert headcount in prompt(mia)
    assert "invoices" not in prompt(mia)
    assert "invoices" not in repr(mia.trace.context)
    used = {found.name: found.used for found in build_trace(boss.trace).definitions}
    assert used == {"headcount": True, "revenue": False}
    assert isinstance(boss, Answered)
