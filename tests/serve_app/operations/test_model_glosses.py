"""Glosses that the model writes reach the index, and are asked for once."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from nl2sql.settings import IndexSettings
from nl2sql.settings.database import DatabaseSettings
from retrieval.catalogs import IndexedCatalogs
from retrieval.index_store.gloss_store import GlossStore
from serve_app.composition.wiring import Wiring
from serve_app.operations.indexing import index_databases
from serve_app.operations.model_glosses import write_model_glosses
from serve_app.reporting import Silence
from tests.fakes import FakeEngine


async def test_a_gloss_stands_where_a_comment_would(wiring: Wiring, tmp_path: Path) -> None:
    path = tmp_path / "tiny.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE orders (amt real)")
    reader = {"url": f"sqlite:///{path}"}
    tiny = Wiring(
        wiring.settings.model_copy(
            update={
                "databases": {"tiny": DatabaseSettings.model_validate({"reader": reader})},
                "index": IndexSettings(model_glosses=True),
            }
        ),
        wiring.socket_folder,
    )
    engine = FakeEngine(["amt: what was paid"])
    assert await write_model_glosses(tiny, ["tiny"], Silence(), engine=engine) == 1
    assert await write_model_glosses(tiny, ["tiny"], Silence(), engine=engine) == 0
    await index_databases(tiny, ["tiny"], Silence())
    store = tiny.build_index_store()
    catalog = await IndexedCatalogs(store).catalog("tiny")
    await store.drop("tiny")
    await GlossStore(store).drop("tiny")
    await store.close()
    assert catalog.tables[0].columns[0].comment == "what was paid"
