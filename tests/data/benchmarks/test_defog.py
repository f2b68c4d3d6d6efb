"""defog's CSV, scripts and column descriptions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from data.benchmarks.defog import find_defog, load_defog
from data.benchmarks.types import Example, PostgresFile
from nl2sql.errors import SettingsError

CSV = """db_name,query_category,question,instructions,query,full_instructions
shop,keywords_ratio,"What is the CR, by name?",CR = a / b,"SELECT {id, name} FROM t;",CR = a / b
gone,basic_join,Who?,,SELECT 1,
"""
METADATA = {
    "table_metadata": {
        "s.t": [
            {"data_type": "int", "column_name": "id", "column_description": "the key"},
            {"data_type": "text", "column_name": "name", "column_description": ""},
        ]
    }
}


def lay_out(folder: Path, text: str = CSV, metadata: object = METADATA) -> Path:
    questions = folder / "instruct_postgres.csv"
    questions.write_text(text)
    (folder / "shop.sql").touch()
    (folder / "shop.json").write_text(json.dumps(metadata))
    return questions


def test_questions_databases_and_descriptions(tmp_path: Path) -> None:
    benchmark = load_defog(lay_out(tmp_path))
    assert (benchmark.name, benchmark.dialect) == ("defog instruct_postgres", "postgres")
    assert benchmark.examples == (
        Example(
            "instruct_postgres-0001",
            "defog_shop",
            "What is the CR, by name?",
            ("SELECT id, name FROM t", "SELECT id FROM t", "SELECT name FROM t"),
            "CR = a / b",
            "keywords_ratio",
        ),
        Example(
            "instruct_postgres-0002", "defog_gone", "Who?", ("SELECT 1",), difficulty="basic_join"
        ),
    )
    assert benchmark.databases == {"defog_shop": PostgresFile(tmp_path / "shop.sql")}
    assert benchmark.missing == {"defog_gone": f"There is no file {tmp_path / 'gone.sql'}."}
    assert benchmark.descriptions == {"defog_shop": {"t.id": "the key"}}


def test_descriptions_may_be_absent(tmp_path: Path) -> None:
    questions = lay_out(tmp_path)
    (tmp_path / "shop.json").unlink()
    assert load_defog(questions).descriptions == {}


@pytest.mark.parametrize(
    ("metadata", "complaint"),
    [
        ({}, "no object 'table_metadata'"),
        ({"table_metadata": {"t": [{"column_name": "id"}]}}, "table t: a column has no"),
    ],
)
def test_wrong_metadata_is_named(tmp_path: Path, metadata: object, complaint: str) -> None:
    with pytest.raises(SettingsError, match=rf"shop\.json.*{complaint}"):
        load_defog(lay_out(tmp_path, metadata=metadata))


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ("shop,c,q,,SELECT {a,", "row 1: 'query' has a { without its }"),
        ("shop,c", "row 1: 'query' is missing"),
    ],
)
def test_a_wrong_row_is_named(tmp_path: Path, row: str, complaint: str) -> None:
    header = CSV.splitlines()[0]
    with pytest.raises(SettingsError, match=f"instruct_postgres.csv, {complaint}"):
        load_defog(lay_out(tmp_path, f"{header}\n{row}\n"))


def test_golds_of_other_dialects_are_refused(tmp_path: Path) -> None:
    questions = lay_out(tmp_path).rename(tmp_path / "instruct_sqlite.csv")
    with pytest.raises(SettingsError, match="queries for sqlite"):
        load_defog(questions)


def test_one_set_is_found_and_of_several_one_must_be_named(tmp_path: Path) -> None:
    questions = lay_out(tmp_path)
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    assert find_defog(tmp_path) == find_defog(questions) == questions
    assert find_defog(tmp_path / "other.csv") is None
    (tmp_path / "second_postgres.csv").write_text(CSV)
    with pytest.raises(SettingsError, match="second_postgres"):
        find_defog(tmp_path)
