"""Spider's layout: questions, tables.json, SQLite files."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from data.benchmarks.spider import find_spider, load_spider
from data.benchmarks.types import Example, SqliteFile
from nl2sql.errors import SettingsError

QUESTIONS = [
    {"db_id": "pets_1", "question": "How many?", "query": "SELECT count(*) FROM Pets;"},
    {"db_id": "gone", "question": "Who?", "query": "SELECT 1", "query_toks": ["SELECT", "1"]},
]
TABLES: dict[str, Any] = {
    "db_id": "pets_1",
    "table_names_original": ["Pets", "Stu"],
    "table_names": ["pets", "student"],
    "column_names_original": [[-1, "*"], [0, "PetID"], [0, "p_age"], [1, "LName"], [1, "StuID"]],
    "column_names": [[-1, "*"], [0, "pet id"], [0, "pet age"], [1, "stu id"], [1, "student id"]],
}


def lay_out(folder: Path, tables: dict[str, Any] | None = None) -> Path:
    (folder / "dev.json").write_text(json.dumps(QUESTIONS))
    (folder / "tables.json").write_text(json.dumps([tables or TABLES]))
    file = folder / "database" / "pets_1" / "pets_1.sqlite"
    file.parent.mkdir(parents=True)
    file.touch()
    return folder / "dev.json"


def test_questions_databases_and_what_is_missing(tmp_path: Path) -> None:
    questions = lay_out(tmp_path)
    benchmark = load_spider(questions)
    assert (benchmark.name, benchmark.dialect) == ("spider dev", "sqlite")
    assert benchmark.examples == (
        Example("dev-0001", "spider_pets_1", "How many?", ("SELECT count(*) FROM Pets",)),
        Example("dev-0002", "spider_gone", "Who?", ("SELECT 1",)),
    )
    file = tmp_path / "database" / "pets_1" / "pets_1.sqlite"
    assert benchmark.databases == {"spider_pets_1": SqliteFile(file)}
    assert set(benchmark.missing) == {"spider_gone"}
    assert str(tmp_path / "database" / "gone" / "gone.sqlite") in benchmark.missing["spider_gone"]
    assert benchmark.sha256 == hashlib.sha256(questions.read_bytes()).hexdigest()


def test_only_names_that_say_more_describe(tmp_path: Path) -> None:
    # "pet id" says what PetID does; "stu id" stands beside LName, but names the next column.
    assert load_spider(lay_out(tmp_path)).descriptions == {
        "spider_pets_1": {"Stu": "student", "Pets.p_age": "pet age", "Stu.StuID": "student id"}
    }


def test_a_folder_means_dev_and_a_file_itself(tmp_path: Path) -> None:
    questions = lay_out(tmp_path)
    assert find_spider(tmp_path) == find_spider(questions) == questions
    below = tmp_path / "variants" / "dev_syn.json"
    below.parent.mkdir()
    below.write_text(questions.read_text())
    assert find_spider(below) == below
    assert load_spider(below).examples[0].id == "dev_syn-0001"
    (tmp_path / "tables.json").unlink()
    assert find_spider(questions) is None


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"table_names": None}, "'table_names' and table_names_original must be lists"),
        ({"table_names": ["pets"]}, "'table_names' has 1 names, table_names_original 2"),
        ({"table_names": ["pets", 3]}, "'table_names' has an entry that is not a name: 'Stu'"),
        ({"column_names_original": [[9, "x"]] * 5}, "'column_names' has an invalid entry"),
    ],
)
def test_what_is_wrong_in_tables_is_named(
    tmp_path: Path, change: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(SettingsError, match=rf"tables\.json, entry 1: {complaint}"):
        load_spider(lay_out(tmp_path, TABLES | change))
