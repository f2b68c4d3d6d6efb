"""What of a benchmark becomes examples: its train questions, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from data.benchmarks.load import load_benchmark
from nl2sql.errors import SettingsError
from serve_app.operations.example_pairs import build_pairs, qualify_tables, select_train_set


def write_spider(folder: Path, name: str) -> str:
    (folder / "tables.json").write_text("[]")
    database = folder / "database" / "shop"
    database.mkdir(parents=True, exist_ok=True)
    (database / "shop.sqlite").touch()
    entries = [
        {"db_id": "shop", "question": "How many?", "query": "SELECT count(*) FROM t"},
        {"db_id": "zoo", "question": "Which?", "query": "SELECT 1"},
        {"db_id": "shop", "question": "How long?", "query": f"SELECT '{'x' * 5000}'"},
    ]
    path = folder / name
    path.write_text(json.dumps(entries))
    return str(path)


def test_a_train_file_gives_the_questions_of_one_database(tmp_path: Path) -> None:
    name = write_spider(tmp_path, "train.json")
    train = select_train_set(load_benchmark(name, configured=()), name, "spider_shop")
    assert list(train.databases) == ["spider_shop"]
    [pair] = build_pairs(train.examples, "sqlite")
    assert (pair.question, pair.sql, pair.source) == (
        "How many?",
        "SELECT count(*) FROM t",
        "benchmark",
    )


@pytest.mark.parametrize(
    ("file", "database"), [("dev.json", "spider_shop"), ("train.json", "spider_farm")]
)
def test_questions_that_are_measured_are_refused(tmp_path: Path, file: str, database: str) -> None:
    name = write_spider(tmp_path, file)
    with pytest.raises(SettingsError, match="no train questions"):
        select_train_set(load_benchmark(name, configured=()), f"spider:{name}", database)


def test_a_split_says_more_than_the_name_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "pets.dump").touch()
    questions = [
        {"question": f"Q{number}?", "query": "SELECT a FROM t", "db_id": "zoo", "split": split}
        for number, split in enumerate(("train", "dev", "train"))
    ]
    path = tmp_path / "questions.json"
    path.write_text(json.dumps(questions))
    benchmark = load_benchmark(str(path), configured=(), one_database=True)
    train = select_train_set(benchmark, str(path), "pets")
    pairs = build_pairs(train.examples, "postgres")
    assert [(pair.question, pair.sql) for pair in pairs] == [
        ("Q0?", "SELECT a FROM zoo.t"),
        ("Q2?", "SELECT a FROM zoo.t"),
    ]


@pytest.mark.parametrize(
    ("sql", "qualified"),
    [
        ("SELECT a FROM t AS x, u", "SELECT a FROM s.t AS x, s.u"),
        ("SELECT a FROM other.t", "SELECT a FROM other.t"),
        ("SELECT 1 FROM t WHERE a IN (SELECT b FROM u)", None),
        ("SELECT ( FROM", "SELECT ( FROM"),
    ],
)
def test_only_tables_without_a_schema_get_one(sql: str, qualified: str | None) -> None:
    expected = qualified or "SELECT 1 FROM s.t WHERE a IN (SELECT b FROM s.u)"
    assert qualify_tables(sql, "s", "postgres") == expected
