"""Columns that nothing describes are described by the model, once."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from nl2sql.catalog import Catalog
from nl2sql.errors import EngineUnavailable
from retrieval.glosses.model_glosses import apply_glosses, write_glosses
from retrieval.index_store.gloss_store import GlossStore
from serve_app.composition.wiring import Wiring
from tests.fakes import FakeEngine, build_table

ORDERS = build_table("s.orders", "id integer -- the key", "amt numeric", "st text", key=("id",))
PEOPLE = build_table("s.people", "nm text")
CATALOG = Catalog("glosses_test", (ORDERS, PEOPLE), search_path=("s",))


@pytest.fixture
async def glosses(wiring: Wiring) -> AsyncIterator[GlossStore]:
    store = wiring.build_index_store()
    yield GlossStore(store)
    await GlossStore(store).drop("glosses_test")
    await store.close()


async def test_what_is_described_already_is_not_asked_about(glosses: GlossStore) -> None:
    engine = FakeEngine(["amt: what was paid\nid: nonsense\nst: state\n"], ["nm: who it is"])
    assert await write_glosses(CATALOG, engine, glosses) == 3
    asked = engine.requests[0].prompt.messages[-1].content
    assert "Columns: amt, st" in asked
    assert "id integer" in asked
    described = apply_glosses(CATALOG, await glosses.load("glosses_test"))
    comments = [[column.comment for column in table.columns] for table in described.tables]
    assert comments == [["the key", "what was paid", "state"], ["who it is"]]


async def test_a_second_run_asks_only_about_what_changed(glosses: GlossStore) -> None:
    await write_glosses(CATALOG, FakeEngine(["no idea"], ["nm: who"]), glosses)
    assert await write_glosses(CATALOG, FakeEngine(), glosses) == 0
    wider = build_table("s.people", "nm text", "dob date")
    changed = Catalog("glosses_test", (ORDERS, wider), search_path=("s",))
    engine = FakeEngine(["dob: birth"])
    assert await write_glosses(changed, engine, glosses) == 1
    assert len(engine.requests) == 1


async def test_a_run_that_broke_off_goes_on(glosses: GlossStore) -> None:
    broken = FakeEngine(["amt: paid"], EngineUnavailable("it is down"))
    with pytest.raises(EngineUnavailable):
        await write_glosses(CATALOG, broken, glosses)
    rest = FakeEngine(["nm: who"])
    await write_glosses(CATALOG, rest, glosses)
    assert len(rest.requests) == 1
    assert (await glosses.load("glosses_test"))["s.orders.amt"][1] == "paid"
