"""BIRD's layouts, on SQLite and on PostgreSQL."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from data.benchmarks.bird import find_bird, load_bird
from data.benchmarks.types import Example, PostgresFile, SqliteFile
from nl2sql.errors import SettingsError

QUESTION: dict[str, Any] = {
    "question_id": 1471,
    "db_id": "school",
    "question": "What is the ratio?",
    "evidence": "ratio = a / b",
    "SQL": "SELECT a / b FROM t;",
    "difficulty": "simple",
}
HEADER = "original_column_name,column_name,column_description,data_format,value_description"


def lay_out(folder: Path, name: str, *questions: dict[str, Any]) -> Path:
    path = folder / name
    path.write_text(json.dumps(questions or [QUESTION]))
    database = folder / "dev_databases" / "school"
    (database / "database_description").mkdir(parents=True)
    (database / "school.sqlite").touch()
    return path


def describe(folder: Path, table: str, content: bytes) -> None:
    where = folder / "dev_databases" / "school" / "database_description"
    (where / f"{table}.csv").write_bytes(content)


def test_sqlite(tmp_path: Path) -> None:
    other = {"db_id": "gone", "question": "And?", "SQL": "SELECT 1"}
    benchmark = load_bird(lay_out(tmp_path, "dev.json", QUESTION, other))
    assert (benchmark.name, benchmark.dialect) == ("bird dev", "sqlite")
    assert benchmark.examples == (
        Example(
            "dev-1471",
            "bird_school",
            "What is the ratio?",
            ("SELECT a / b FROM t",),
            "ratio = a / b",
            "simple",
        ),
        Example("dev-2", "bird_gone", "And?", ("SELECT 1",)),
    )
    file = tmp_path / "dev_databases" / "school" / "school.sqlite"
    assert benchmark.databases == {"bird_school": SqliteFile(file)}
    assert str(Path("gone", "gone.sqlite")) in benchmark.missing["bird_gone"]


def test_descriptions_in_either_encoding(tmp_path: Path) -> None:
    questions = lay_out(tmp_path, "dev.json")
    rows = [
        HEADER,
        'CDSCode,CDSCode,"the  code",integer,"7 digits,\nno dash"',
        "School Name,School Name,,text,",
        "dname,district name,,text,",
        "flag,,,integer,0: no; 1: yes",
        ",,,,",
    ]
    describe(tmp_path, "frpm", "\n".join(rows).encode("utf-8-sig"))
    describe(tmp_path, "cafés", f"{HEADER}\nname,name,5 €,text,\n".encode("cp1252"))
    describe(tmp_path, ".DS", b"\xff")
    assert load_bird(questions).descriptions == {
        "bird_school": {
            "frpm.CDSCode": "the code (7 digits, no dash)",
            "frpm.dname": "district name",
            "frpm.flag": "0: no; 1: yes",
            "cafés.name": "5 €",
        }
    }


def test_a_description_without_its_header_is_named(tmp_path: Path) -> None:
    questions = lay_out(tmp_path, "dev.json")
    describe(tmp_path, "frpm", b"a,b\n1,2\n")
    with pytest.raises(SettingsError, match=r"frpm\.csv has no column original_column_name"):
        load_bird(questions)


@pytest.mark.parametrize(
    "dump",
    ["BIRD_dev.sql", "MINIDEV_postgresql/BIRD_dev.sql", "../MINIDEV_postgresql/BIRD_dev.sql"],
)
def test_postgresql_is_one_database(tmp_path: Path, dump: str) -> None:
    folder = tmp_path / "MINIDEV"
    folder.mkdir()
    questions = lay_out(folder, "mini_dev_postgresql.json")
    describe(folder, "t", f"{HEADER}\na,,the dividend,,\n".encode())
    path = (folder / dump).resolve()
    path.parent.mkdir(exist_ok=True)
    path.touch()
    benchmark = load_bird(questions)
    assert benchmark.dialect == "postgres"
    assert benchmark.databases == {"bird_dev": PostgresFile(path)}
    assert [example.database for example in benchmark.examples] == ["bird_dev"]
    assert benchmark.descriptions == {"bird_dev": {"t.a": "the dividend"}}


def test_a_missing_dump_names_where_it_was_looked_for(tmp_path: Path) -> None:
    benchmark = load_bird(lay_out(tmp_path, "mini_dev_pg-00000-of-00001.json"))
    assert benchmark.databases == {}
    assert str(tmp_path / "BIRD_dev.sql") in benchmark.missing["bird_dev"]


def test_mysql_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="MySQL"):
        load_bird(lay_out(tmp_path, "mini_dev_mysql.json"))


def test_a_folder_means_the_first_of_the_usual_names(tmp_path: Path) -> None:
    questions = lay_out(tmp_path, "mini_dev_sqlite.json")
    assert find_bird(tmp_path) == find_bird(questions) == questions
    spider_like = tmp_path / "dev.json"
    spider_like.write_text(json.dumps([{"db_id": "a", "question": "b", "query": "c"}]))
    assert find_bird(tmp_path) == questions
    assert find_bird(spider_like) is None


def test_a_wrong_entry_is_named(tmp_path: Path) -> None:
    broken = {**QUESTION, "SQL": None}
    with pytest.raises(SettingsError, match=r"dev\.json, entry 2: 'SQL' is missing"):
        load_bird(lay_out(tmp_path, "dev.json", QUESTION, broken))
