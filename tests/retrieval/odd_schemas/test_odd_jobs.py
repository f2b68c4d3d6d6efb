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
from tests.retrieval.odd_schemas.building import build_file, build_on_postgres, list_cases
from tests.retrieval.odd_schemas.odd_schema import OddSchema


def _build(dialect: str, odd: OddSchema, server: EmbeddedServer, folder: Path) -> dict[str, object]:
    """The schema, and the settings of the database that holds it."""
    if dialect != "postgres":
        url = f"{dialect}:///{build_file(dialect, folder, odd)}"
        schemas = {"schemas": list(odd.schemas)} if dialect == "duckdb" else {}
        return {"reader": {"url": url}, **schemas}
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


@pytest.mark.parametrize("case", list_cases("postgres", "sqlite", "duckdb"))
async def test_the_job_ends_and_reports(
    case: tuple[str, OddSchema], odd_server: EmbeddedServer, tmp_path: Path
) -> None:
    dialect, odd = case
    report = await _run(odd.name, _build(dialect, odd, odd_server, tmp_path), odd_server)
    assert report.tables == len(odd.tables) or odd.name == "keywords"
    assert len(report.skipped) == len(odd.skipped)
