"""Benchmarks as subjects of the oracle: erp86 and spider_pg, under policies made for them.

Read from the folder that ``QUORUMSQL_BENCH`` names; their dumps are restored once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from execution.postgres.embedded import READER, SUPERUSER, EmbeddedServer
from execution.postgres.restore import restore_postgres
from nl2sql.catalog import Catalog
from retrieval.introspection.postgres.catalog import read_postgres_catalog
from tests.oracle.generated_policies import build_policy
from tests.oracle.stage import PostgresStage, Subject

NAMES = ("erp86", "spider_pg")


def open_benchmark(
    server: EmbeddedServer, folder: Path, name: str, *, timeout_ms: int = 3000
) -> PostgresStage:
    """Opens the stage over one of ``NAMES``. Raises SettingsError, DatabaseUnavailable, OSError."""
    restore_postgres(server, name, folder / name / f"{name}.dump")
    catalog = read_postgres_catalog(
        server.url(name, SUPERUSER), database=name, reader_role=READER, schemas=()
    )
    questions = json.loads((folder / name / "questions.json").read_text(encoding="utf-8"))
    return PostgresStage(
        server, name, list(_build_subjects(catalog, questions)), timeout_ms=timeout_ms
    )


def _build_subjects(catalog: Catalog, questions: list[dict[str, str]]) -> Iterator[Subject]:
    """A subject for each schema that questions name, or one for the whole database."""
    golds: dict[str, list[tuple[str, str]]] = {}
    for number, entry in enumerate(questions):
        identifier = entry.get("id", f"{entry.get('db_id')}-{number}")
        golds.setdefault(entry.get("db_id", ""), []).append((identifier, entry["query"]))
    for schema, queries in golds.items():
        part = _cut_catalog(catalog, schema) if schema else catalog
        yield Subject(schema or catalog.database, part, build_policy(part), queries)


def _cut_catalog(catalog: Catalog, schema: str) -> Catalog:
    return replace(
        catalog,
        tables=tuple(table for table in catalog.tables if table.schema == schema),
        foreign_keys=tuple(
            key
            for key in catalog.foreign_keys
            if all(name.startswith(f"{schema}.") for name in (key.table, key.target))
        ),
        search_path=(schema,),
    )
