"""The demo's definitions fit the demo's schema, the guard and the database."""

from __future__ import annotations

from retrieval.semantics.semantics_file import load_semantics
from serve_app.composition.wiring import Wiring
from serve_app.operations.semantics import check_definitions
from tests.conftest import ROOT


async def test_twenty_definitions_fit(wiring: Wiring) -> None:
    file = load_semantics(ROOT / "data" / "demo_erp" / "semantics.yaml")
    catalog = wiring.source("demo_erp").read_catalog()
    count, problems = await check_definitions(wiring, file, catalog)
    assert [file.describe(problem) for problem in problems] == []
    assert count == 20
