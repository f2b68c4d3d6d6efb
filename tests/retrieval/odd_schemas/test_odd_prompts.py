"""Odd schemas in a prompt: nothing breaks out of its line, and nothing fills the window."""

from __future__ import annotations

from pathlib import Path

import pytest

from nl2sql.catalog import Catalog
from nl2sql.schema_text import SchemaWriter, TokenCounts
from nl2sql.settings import parse_settings
from tests.fakes import FakeEngine
from tests.retrieval.odd_schemas.building import build_file, find_odd, read_file
from tests.retrieval.odd_schemas.odd_schema import OddSchema, build_wide
from tests.retrieval.odd_schemas.walk import OddDatabase

# An embedder reads about 256 pieces of words.
_LONGEST_EMBEDDED = 4000


def _read(dialect: str, name: str, folder: Path) -> Catalog:
    odd = find_odd(dialect, name)
    return read_file(build_file(dialect, folder, odd), odd)


@pytest.mark.parametrize(
    ("dialect", "name"), [("duckdb", "comments"), ("duckdb", "types"), ("sqlite", "types")]
)
async def test_comments_and_types_stay_short_and_on_their_line(
    dialect: str, name: str, tmp_path: Path
) -> None:
    catalog = _read(dialect, name, tmp_path)
    database = OddDatabase(catalog)
    await database.index()
    walked = await database.ask("notes")
    ddl, _ = walked.texts
    columns = sum(len(table.columns) for table in catalog.tables)
    assert len(ddl.splitlines()) == columns + 2 * len(catalog.tables)
    for line in ddl.splitlines():
        assert len(line) < 400
        assert not line.startswith(("DROP", "-- and"))


async def test_the_last_of_1600_columns_is_found_and_shown(tmp_path: Path) -> None:
    decoys = "".join(f"CREATE TABLE decoy_{n} (id INT, size_{n} INT, end_ INT);" for n in range(40))
    odd = OddSchema("among_others", decoys + build_wide("wide", 1600))
    database = OddDatabase(read_file(build_file("duckdb", tmp_path, odd), odd))
    await database.index()
    walked = await database.ask("What is the average shoe size?")
    assert walked.context.tables[0].table.name == "wide"
    settings = parse_settings(
        {
            "default_database": "x",
            "databases": {"x": {"reader": {"url": "duckdb:///x.duckdb"}}},
            "model": {"max_model_len": 2048},
        }
    )
    writer = SchemaWriter(TokenCounts(FakeEngine()), settings)
    written = await writer.write(walked.context, beside=(), answer_tokens=256, plan=walked.plan)
    assert "shoe_size" in written.text
    assert len(written.left_out) > 1000


@pytest.mark.parametrize("name", ["comments", "types", "wide"])
async def test_what_is_embedded_is_cut(name: str, tmp_path: Path) -> None:
    database = OddDatabase(_read("duckdb", name, tmp_path))
    await database.index()
    assert max(map(len, database.embedder.texts)) <= _LONGEST_EMBEDDED
