"""The formats of benchmarks: what is read of each, how it is recognised, what is wrong by name."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from data.benchmarks.entries import (
    Entry,
    peek_fields,
    read_csv_entries,
    read_json_entries,
    read_json_line_entries,
)
from data.benchmarks.formats import FORMATS
from data.benchmarks.types import Configured, Example, LocalFile, PostgresFile
from nl2sql.errors import SettingsError

spider, bird, defog, files, jsonl = FORMATS

SPIDER = [
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
BIRD: dict[str, Any] = {
    "question_id": 1471,
    "db_id": "school",
    "question": "What is the ratio?",
    "evidence": "ratio = a / b",
    "SQL": "SELECT a / b FROM t;",
    "difficulty": "simple",
}
HEADER = "original_column_name,column_name,column_description,data_format,value_description"
DEFOG = """db_name,query_category,question,instructions,query,full_instructions
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
LINE: dict[str, object] = {
    "id": 7,
    "database": "shop",
    "question": "How many?",
    "query": "SELECT 1",
}


def write(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def lay_out_spider(folder: Path, tables: dict[str, Any] | None = None) -> Path:
    write(folder / "tables.json", [tables or TABLES])
    write(folder / "database" / "pets_1" / "pets_1.sqlite", "")
    return write(folder / "dev.json", SPIDER)


def lay_out_bird(folder: Path, name: str = "dev.json", *questions: dict[str, Any]) -> Path:
    write(folder / "dev_databases" / "school" / "school.sqlite", "")
    return write(folder / name, questions or [BIRD])


def describe(folder: Path, table: str, content: bytes) -> None:
    where = folder / "dev_databases" / "school" / "database_description"
    where.mkdir(exist_ok=True)
    (where / f"{table}.csv").write_bytes(content)


def lay_out_defog(folder: Path, text: str = DEFOG, metadata: object = METADATA) -> Path:
    write(folder / "shop.sql", "")
    write(folder / "shop.json", metadata)
    return write(folder / "instruct_postgres.csv", text)


def lay_out_files(folder: Path, *questions: dict[str, Any]) -> Path:
    write(folder / "erp.dump", "")
    return write(folder / "questions.json", questions)


def lay_out_jsonl(folder: Path, *lines: dict[str, object]) -> Path:
    return write(folder / "mine.jsonl", "".join(f"{json.dumps(line)}\n\n" for line in lines))


def test_spider(tmp_path: Path) -> None:
    questions = lay_out_spider(tmp_path)
    benchmark = spider.load(questions, ())
    assert (benchmark.name, benchmark.dialect) == ("spider dev", "sqlite")
    assert benchmark.examples == (
        Example("dev-0001", "spider_pets_1", "How many?", ("SELECT count(*) FROM Pets",)),
        Example("dev-0002", "spider_gone", "Who?", ("SELECT 1",)),
    )
    file = tmp_path / "database" / "pets_1" / "pets_1.sqlite"
    assert benchmark.databases == {"spider_pets_1": LocalFile(file)}
    assert set(benchmark.missing) == {"spider_gone"}
    assert str(tmp_path / "database" / "gone" / "gone.sqlite") in benchmark.missing["spider_gone"]
    assert benchmark.sha256 == hashlib.sha256(questions.read_bytes()).hexdigest()
    # "pet id" says what PetID does; "stu id" stands beside LName, but names the next column.
    assert benchmark.descriptions == {
        "spider_pets_1": {"Stu": "student", "Pets.p_age": "pet age", "Stu.StuID": "student id"}
    }
    assert spider.find(tmp_path) == spider.find(questions) == questions
    below = write(tmp_path / "variants" / "dev_syn.json", SPIDER)
    assert spider.find(below) == below
    assert spider.load(below, ()).examples[0].id == "dev_syn-0001"
    (tmp_path / "tables.json").unlink()
    assert spider.find(questions) is None


def test_bird(tmp_path: Path) -> None:
    other = {"db_id": "gone", "question": "And?", "SQL": "SELECT 1"}
    questions = lay_out_bird(tmp_path, "dev.json", BIRD, other)
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
    benchmark = bird.load(questions, ())
    assert (benchmark.name, benchmark.dialect) == ("bird dev", "sqlite")
    query = "SELECT a / b FROM t"
    assert benchmark.examples == (
        Example(
            "dev-1471", "bird_school", "What is the ratio?", (query,), "ratio = a / b", "simple"
        ),
        Example("dev-0002", "bird_gone", "And?", ("SELECT 1",)),
    )
    file = tmp_path / "dev_databases" / "school" / "school.sqlite"
    assert benchmark.databases == {"bird_school": LocalFile(file)}
    assert str(Path("gone", "gone.sqlite")) in benchmark.missing["bird_gone"]
    assert benchmark.descriptions == {
        "bird_school": {
            "frpm.CDSCode": "the code (7 digits, no dash)",
            "frpm.dname": "district name",
            "frpm.flag": "0: no; 1: yes",
            "cafés.name": "5 €",
        }
    }
    assert bird.find(tmp_path) == bird.find(questions) == questions
    assert bird.find(write(tmp_path / "spider.json", SPIDER)) is None


def test_defog(tmp_path: Path) -> None:
    questions = lay_out_defog(tmp_path)
    benchmark = defog.load(questions, ())
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
    (tmp_path / "shop.json").unlink()
    assert defog.load(questions, ()).descriptions == {}
    write(tmp_path / "other.csv", "a,b\n1,2\n")
    assert defog.find(tmp_path) == defog.find(questions) == questions
    assert defog.find(tmp_path / "other.csv") is None


def test_a_dump_with_questions_beside_it(tmp_path: Path) -> None:
    whole = {
        "id": "Q13",
        "question": "How long?",
        "evidence": "in years",
        "query": "SELECT 1;",
        "difficulty": "simple",
        "template": "tenure",
    }
    questions = lay_out_files(tmp_path, whole, {"question": "Who?", "query": "SELECT 2"})
    benchmark = files.load(questions, ())
    assert (benchmark.name, benchmark.dialect) == ("erp", "postgres")
    assert benchmark.examples == (
        Example("Q13", "files_erp", "How long?", ("SELECT 1",), "in years", "simple"),
        Example("questions-0002", "files_erp", "Who?", ("SELECT 2",)),
    )
    assert benchmark.databases == {"files_erp": PostgresFile(tmp_path / "erp.dump")}
    assert files.find(tmp_path) == files.find(questions) == questions
    # A file of another name names the benchmark; a query may stand for several.
    entry = {"question": "a", "query": ["SELECT 1;", "SELECT {2, 3}"], "notation": "sql-eval"}
    path = write(tmp_path / "others.json", [entry, {"question": "b", "unanswerable": "no table"}])
    assert files.find(path) == path
    other = files.load(path, ())
    assert other.name == "erp others"
    golds = ("SELECT 1", "SELECT 2, 3", "SELECT 2", "SELECT 3")
    assert other.examples == (Example("others-0001", "files_erp", "a", golds),)


def test_questions_name_one_of_the_databases_beside_them(tmp_path: Path) -> None:
    folder = tmp_path / "public"
    for name in ("music.sqlite", "trips.duckdb", "erp.sql"):
        write(folder / name, "")
    entries = [
        {"database": "music", "question": "a", "query": "SELECT 1"},
        {"db": "trips.duckdb (DuckDB)", "question": "b", "sql": "SELECT 2"},
        {"db": "erp (PostgreSQL)", "question": "c", "sql": "SELECT 3", "answer": "[(3,)]"},
        {"db": "gone.sqlite", "question": "d", "sql": "SELECT 4"},
    ]
    questions = write(folder / "questions.json", entries)
    benchmark = files.load(questions, ())
    assert (benchmark.name, benchmark.dialect) == ("public", "duckdb, postgres, sqlite")
    assert benchmark.databases == {
        "files_music": LocalFile(folder / "music.sqlite"),
        "files_trips": LocalFile(folder / "trips.duckdb"),
        "files_erp": PostgresFile(folder / "erp.sql"),
    }
    assert benchmark.missing == {
        "files_gone": "There is no file gone with an ending of .sqlite, .duckdb, .dump, .sql."
    }
    assert [each.golds for each in benchmark.examples] == [(f"SELECT {at}",) for at in range(1, 5)]
    write(questions, [{"question": "a", "query": "SELECT 1"}])
    with pytest.raises(SettingsError, match="entry 1: 'db' is missing"):
        files.load(questions, ())
    write(folder / "erp.dump", "")
    with pytest.raises(SettingsError, match="databases of one name"):
        files.find(folder)


def test_a_schema_of_a_dump_is_a_database(tmp_path: Path) -> None:
    questions = lay_out_files(
        tmp_path,
        {"schema": "div_06", "question": "a", "query": "SELECT 1"},
        {"db_id": "Doc_Mgt", "question": "b", "query": "SELECT 1"},
    )
    file = tmp_path / "erp.dump"
    assert files.load(questions, ()).databases == {
        "files_erp_div_06": PostgresFile(file, ("div_06",)),
        "files_erp_doc_mgt": PostgresFile(file, ("doc_mgt",)),
    }


def test_json_lines_about_databases_of_the_settings(tmp_path: Path) -> None:
    hard = {
        **LINE,
        "id": "h",
        "query": ["SELECT 1;", "SELECT 2"],
        "difficulty": "hard",
        "evidence": "a hint",
        "modules": ["x"],
    }
    sad = {"id": 9, "database": "shop", "question": "Who is sad?", "unanswerable": "no moods"}
    path = lay_out_jsonl(tmp_path, LINE, hard, sad)
    benchmark = jsonl.load(path, {"shop"})
    assert benchmark.name == "mine"
    assert benchmark.examples == (
        Example("7", "shop", "How many?", ("SELECT 1",)),
        Example("h", "shop", "How many?", ("SELECT 1", "SELECT 2"), "a hint", "hard"),
    )
    assert benchmark.databases == {"shop": Configured()}
    assert jsonl.find(tmp_path) == jsonl.find(path) == path
    other = jsonl.load(path, {"other"})
    assert other.databases == {}
    assert other.missing == {"shop": "The settings file has no database 'shop'; it has other."}
    path.with_name("second.jsonl").write_text(path.read_text())
    with pytest.raises(SettingsError, match="second"):
        jsonl.find(tmp_path)


def test_braces_are_the_databases_own_without_the_notation(tmp_path: Path) -> None:
    # DuckDB writes structs with them.
    path = lay_out_jsonl(tmp_path, {**LINE, "query": "SELECT {'a': 1}"})
    assert jsonl.load(path, {"shop"}).examples[0].golds == ("SELECT {'a': 1}",)


NO_QUERIES: list[object] = [[], [3], [";"], "", None, {}]


def with_line(**change: object) -> Callable[[Path], object]:
    return lambda folder: jsonl.load(
        lay_out_jsonl(folder, LINE, {**LINE, "id": 8, **change}), {"shop"}
    )


def with_tables(**change: object) -> Callable[[Path], object]:
    return lambda folder: spider.load(lay_out_spider(folder, TABLES | change), ())


def with_row(row: str) -> Callable[[Path], object]:
    header = DEFOG.splitlines()[0]
    return lambda folder: defog.load(lay_out_defog(folder, f"{header}\n{row}\n"), ())


def with_metadata(metadata: object) -> Callable[[Path], object]:
    return lambda folder: defog.load(lay_out_defog(folder, metadata=metadata), ())


@pytest.mark.parametrize(
    ("load", "complaint"),
    [
        *((with_line(query=query), r"mine\.jsonl, line 3: 'query'") for query in NO_QUERIES),
        (with_line(query="SELECT {a", notation="sql-eval"), r"mine\.jsonl, line 3: 'query'"),
        (with_line(notation="own"), r"mine\.jsonl, line 3: 'notation'"),
        (with_tables(table_names=None), r"tables\.json, pets_1: is not as in Spider's"),
        (with_tables(table_names=["pets"]), "argument 2 is shorter"),
        (with_tables(column_names_original=[[9, "x"]] * 5), "is not as in Spider's"),
        (with_row("shop,c,q,,SELECT {a,"), r"csv, row 1: 'query' has a { without its }"),
        (with_row("shop,c,q"), r"instruct_postgres\.csv, row 1: 'query' is missing"),
        (with_metadata({}), r"shop\.json.*'table_metadata'"),
        (with_metadata({"table_metadata": {"t": [{}]}}), r"shop\.json.*'column_description'"),
        (
            lambda folder: defog.load(
                lay_out_defog(folder).rename(folder / "instruct_sqlite.csv"), ()
            ),
            "queries for sqlite",
        ),
        (
            lambda folder: bird.load(
                lay_out_bird(folder, "dev.json", BIRD, {**BIRD, "question_id": 2, "SQL": None}), ()
            ),
            r"dev\.json, entry 2: 'SQL' is missing",
        ),
        (
            lambda folder: bird.load(lay_out_bird(folder, "mini_dev_postgresql.json"), ()),
            "queries for another database than SQLite",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_place(
    tmp_path: Path, load: Callable[[Path], object], complaint: str
) -> None:
    with pytest.raises(SettingsError, match=complaint):
        load(tmp_path)


def test_the_three_containers_hold_the_same(tmp_path: Path) -> None:
    value = {"question": "Who, and \u2028 when?", "n": "1"}
    text = json.dumps(value, ensure_ascii=False)
    for entries in (
        read_json_entries(write(tmp_path / "q.json", f"\ufeff[{text}]")),
        read_json_line_entries(write(tmp_path / "q.jsonl", f"{text}\n\n")),
        read_csv_entries(write(tmp_path / "q.csv", f'question,n\n"{value["question"]}",1\n')),
    ):
        (entry,) = entries
        assert entry.values == value
    for path in tmp_path.iterdir():
        assert peek_fields(path) == {"question", "n"}


@pytest.mark.parametrize(
    ("read", "name", "text", "complaint"),
    [
        (read_json_entries, "q.json", "[", r"q\.json: is not JSON"),
        (read_json_entries, "q.json", "{}", r"q\.json contains a dict\. It must be a list"),
        (read_json_entries, "q.json", "[{}, 3]", r"q\.json, entry 2: is a int, not an object"),
        (read_json_entries, "absent.json", None, r"absent\.json cannot be read"),
        (read_json_line_entries, "q.jsonl", '{}\n\n{"a"', r"q\.jsonl, line 3: is not JSON"),
        (read_json_line_entries, "q.jsonl", "[]", r"q\.jsonl, line 1: is a list"),
        (read_csv_entries, "q.csv", "a,b\n1,2\n1,2,3\n", r"q\.csv, row 2: has more fields"),
    ],
)
def test_a_container_that_cannot_be_read_is_named_with_the_place(
    tmp_path: Path, read: Callable[[Path], object], name: str, text: str | None, complaint: str
) -> None:
    if text is not None:
        write(tmp_path / name, text)
    with pytest.raises(SettingsError, match=complaint):
        read(tmp_path / name)


@pytest.mark.parametrize("name", ["../x", "a/b", ".hidden", "a\\b"])
def test_a_name_does_not_lead_out_of_its_folder(name: str) -> None:
    with pytest.raises(SettingsError, match="not a plain name"):
        Entry(Path("q.json"), 1, {"db_id": name}).file_name("db_id")


@pytest.mark.parametrize(
    ("lines", "complaint"), [((), "no questions"), ((LINE, LINE), "'7' occurs")]
)
def test_every_benchmark_has_questions_with_ids_of_their_own(
    tmp_path: Path, lines: tuple[dict[str, object], ...], complaint: str
) -> None:
    with pytest.raises(SettingsError, match=complaint):
        jsonl.load(lay_out_jsonl(tmp_path, *lines), {"shop"})
