"""A dump with questions beside it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from data.benchmarks.dump import find_dump, load_dump
from data.benchmarks.types import Example, PostgresFile
from nl2sql.errors import SettingsError


def lay_out(folder: Path, *questions: dict[str, str]) -> Path:
    path = folder / "questions.json"
    path.write_text(json.dumps(questions))
    (folder / "erp.dump").touch()
    return path


def test_one_database(tmp_path: Path) -> None:
    questions = lay_out(
        tmp_path,
        {
            "id": "Q13",
            "question": "How long?",
            "evidence": "in years",
            "query": "SELECT 1;",
            "difficulty": "simple",
            "template": "tenure",
        },
        {"question": "Who?", "query": "SELECT 2"},
    )
    benchmark = load_dump(questions)
    assert (benchmark.name, benchmark.dialect) == ("erp", "postgres")
    assert benchmark.examples == (
        Example("Q13", "erp", "How long?", ("SELECT 1",), "in years", "simple"),
        Example("erp-0002", "erp", "Who?", ("SELECT 2",)),
    )
    assert benchmark.databases == {"erp": PostgresFile(tmp_path / "erp.dump")}


def test_a_file_of_another_name_names_the_benchmark(tmp_path: Path) -> None:
    lay_out(tmp_path)
    path = tmp_path / "others.json"
    entry = {"question": "a", "query": ["SELECT 1;", "SELECT {2, 3}"], "notation": "sql-eval"}
    path.write_text(json.dumps([entry, {"question": "b", "unanswerable": "no table"}]))
    assert find_dump(path) == path
    benchmark = load_dump(path)
    assert benchmark.name == "erp others"
    golds = ("SELECT 1", "SELECT 2, 3", "SELECT 2", "SELECT 3")
    assert benchmark.examples == (Example("erp-0001", "erp", "a", golds),)


def test_a_schema_is_a_database_of_its_own(tmp_path: Path) -> None:
    questions = lay_out(
        tmp_path,
        {"schema": "div_06", "question": "a", "query": "SELECT 1"},
        {"db_id": "Doc_Mgt", "question": "b", "query": "SELECT 1"},
        {"db_id": '"Doc ""x"""', "question": "c", "query": "SELECT 1"},
    )
    file = tmp_path / "erp.dump"
    assert load_dump(questions).databases == {
        "erp_div_06": PostgresFile(file, ("div_06",)),
        "erp_doc_mgt": PostgresFile(file, ("doc_mgt",)),
        'erp_Doc "x"': PostgresFile(file, ('Doc "x"',)),
    }


def test_folder_questions_and_dump_mean_the_same(tmp_path: Path) -> None:
    questions = lay_out(tmp_path, {"question": "a", "query": "SELECT 1"})
    assert find_dump(tmp_path) == find_dump(tmp_path / "erp.dump") == find_dump(questions)
    assert find_dump(questions) == questions
    (tmp_path / "second.dump").touch()
    assert find_dump(questions) is None
    with pytest.raises(SettingsError, match=r"2 files \*\.dump"):
        load_dump(questions)


def test_all_schemas_as_one_database(tmp_path: Path) -> None:
    questions = lay_out(
        tmp_path,
        {"db_id": "Pets", "split": "dev", "question": "a", "query": "SELECT 1"},
        {"db_id": "zoo", "split": "train", "question": "b", "query": "SELECT 2"},
    )
    benchmark = load_dump(questions, one_database=True)
    assert benchmark.name == "erp as one database"
    assert benchmark.databases == {"erp": PostgresFile(tmp_path / "erp.dump")}
    assert [
        (example.database, example.schema, example.split) for example in benchmark.examples
    ] == [
        ("erp", "pets", "dev"),
        ("erp", "zoo", "train"),
    ]
