"""The demo's synonym file fits the demo's schema."""

from __future__ import annotations

from retrieval.index_store.value_store import ValueStore
from retrieval.vocabulary.synonyms import check_synonyms, load_synonyms
from serve_app.composition.wiring import Wiring
from tests.conftest import ROOT


async def test_every_name_and_value_is_there(wiring: Wiring) -> None:
    synonyms = load_synonyms(ROOT / "data" / "demo_erp" / "synonyms.yaml")
    check_synonyms(synonyms, wiring.source("demo_erp").read_catalog())
    store = wiring.build_index_store()
    stored = {
        column.qualified: set(column.values)
        for column in await ValueStore(store).load("demo_erp", 10**6)
    }
    await store.close()
    for column, values in synonyms.values.items():
        assert set(values) <= stored[column]
