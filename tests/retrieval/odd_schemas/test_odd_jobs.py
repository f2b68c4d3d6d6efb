"""The whole indexing job on odd schemas: values, inferred keys and glosses as well."""

from __future__ import annotations

from pathlib import Path

import pytest

from execution.postgres.embedded import INDEX_DATABASE, INDEXER, READER, EmbeddedServer
from nl2sql.settings import parse_settings
from retrieval.indexing.job import IndexReport, run_job
from serve_app.composition.wiring import Wiring
from serve_app.operations.indexing import DatabaseJob
from tests.fakes import FakeEmbedder
from tests.retrieval.odd_schemas.building import (
    build_on_duckdb,
    build_on_postgres,
    build_on_sqlite,
)
from tests.retrieval.odd_schemas.file_schemas import ODD_DUCKDB_SCHEMAS, ODD_SQLITE_SCHEMAS
from tests.retrieval.odd_schemas.odd_schema import OddSchema
from tests.retrieval.odd_schemas.postgres_schemas import ODD_SCHEMAS

_CASES = [
    pytest.param(dialect, odd, id=f"{dialect}-{odd.name}")
    for dialect, schemas in (
        ("postgres", ODD_SCHEMAS),
        ("sqlite", ODD_SQLITE_SCHEMAS),
        ("duckdb", ODD_DUCKDB_SCHEMAS),
    )
    for odd in schemas
]


def _build(dialect: str, odd: OddSchema, server: EmbeddedServer, folder: Path) -> dict[str, object]:
    """The schema, and the settings of the database that holds it."""
    if dialect == "sqlite":
        return {"reader": {"url": f"sqlite:///{build_on_sqlite(folder, odd)}"}}
    if dialect == "duckdb":
        url = f"duckdb:///{build_on_duckdb(folder, odd)}"
        return {"reader": {"url": url}, "schemas": list(odd.schemas)}
    build_on_postgres(server, odd)
    return {
        "reader": {"url": server.url(odd.name, READER)},
        "indexer": {"url": server.url(odd.name, INDEXER)},
        "schemas": list(odd.schemas),
    }


async def _run(name: str, database: dict[str, object], server: EmbeddedServer) -> IndexReport:
    wiring = Wiring(
        parse_settings(
            {
                "default_database": name,
                "databases": {name: database},
                "index": {"connection": {"url": server.url(INDEX_DATABASE, INDEXER)}},
            }
        )
    )
    store = wiring.build_index_store()
    try:
        job = DatabaseJob(wiring, name, store, {})
        report = await run_job(name, job.phases(), store, FakeEmbedder())
        await store.drop(name)
    finally:
        await store.close()
    return report


@pytest.mark.parametrize(("dialect", "odd"), _CASES)
async def test_the_job_ends_and_reports(
    dialect: str, odd: OddSchema, odd_server: EmbeddedServer, tmp_path: Path
) -> None:
    report = await _run(odd.name, _build(dialect, odd, odd_server, tmp_path), odd_server)
    assert report.tables == len(odd.tables) or odd.name == "keywords"
    assert len(report.skipped) == len(odd.skipped)
