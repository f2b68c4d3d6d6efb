"""Spider (Yu et al. 2018, https://yale-lily.github.io/spider) and sets in its format.

A questions file is a JSON list of ``{db_id, question, query}``; Spider's other fields are ignored.
``tables.json`` is beside it or one folder above, and ``database/<db_id>/<db_id>.sqlite`` beside
that. Variants of the questions (Spider-Syn, Spider-Realistic) are files with other names in the
same folder.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from data.benchmarks.entries import (
    Entry,
    build_benchmark,
    fold_name,
    peek_fields,
    read_json_entries,
)
from data.benchmarks.types import Benchmark, Example, LocalFile, Source
from nl2sql.errors import SettingsError

LAYOUT = "a JSON list of {db_id, question, query}, tables.json beside it or one folder above"


def find_spider(path: Path) -> Path | None:
    """The questions file at ``path`` (in a folder: ``dev.json``), or None."""
    questions = path / "dev.json" if path.is_dir() else path
    if not questions.is_file() or _find_tables(questions) is None:
        return None
    return questions if {"db_id", "question", "query"} <= peek_fields(questions) else None


def load_spider(questions: Path) -> Benchmark:
    """The benchmark of a questions file that ``find_spider`` found. Raises SettingsError."""
    tables = _find_tables(questions)
    if tables is None:
        raise SettingsError(f"There is no tables.json beside {questions} or one folder above.")
    examples = []
    databases: dict[str, Source] = {}
    missing = {}
    for entry in read_json_entries(questions):
        db_id = entry.file_name("db_id")
        name = name_database(db_id)
        file = tables.parent / "database" / db_id / f"{db_id}.sqlite"
        if file.is_file():
            databases[name] = LocalFile(file)
        else:
            missing[name] = f"There is no file {file}."
        examples.append(
            Example(
                id=f"{questions.stem}-{entry.number:04d}",
                database=name,
                question=entry.text("question"),
                golds=(entry.query("query"),),
            )
        )
    return build_benchmark(
        questions,
        name=f"spider {questions.stem}",
        dialect="sqlite",
        examples=examples,
        databases=databases,
        missing=missing,
        descriptions=_read_descriptions(tables, databases),
    )


def name_database(db_id: str) -> str:
    """The name of a Spider database among those of all benchmarks.

    >>> name_database("concert_singer")
    'spider_concert_singer'
    """
    return f"spider_{db_id}"


def _find_tables(questions: Path) -> Path | None:
    paths = (folder / "tables.json" for folder in (questions.parent, questions.parent.parent))
    return next((path for path in paths if path.is_file()), None)


def _read_descriptions(path: Path, wanted: Collection[str]) -> dict[str, dict[str, str]]:
    """Database → its natural names that differ from the names in the database."""
    return {
        name: dict(_describe(entry))
        for entry in read_json_entries(path)
        if (name := name_database(entry.file_name("db_id"))) in wanted
    }


def _describe(entry: Entry) -> Iterator[tuple[str, str]]:
    tables = []
    for original, natural in _pair(entry, "table_names"):
        if not isinstance(original, str) or not isinstance(natural, str):
            raise entry.error("table_names", f"has an entry that is not a name: {original!r}")
        tables.append(original)
        if _differs(natural, original):
            yield original, natural
    columns: dict[str, list[tuple[str, str]]] = {table: [] for table in tables}
    for original, natural in _pair(entry, "column_names"):
        match original, natural:
            case [-1, _], _:  # *
                continue
            case [int(at), str(column)], [int(), str(text)] if 0 <= at < len(tables):
                columns[tables[at]].append((column, text))
            case _:
                raise entry.error("column_names", f"has an invalid entry: {original!r}")
    for table, pairs in columns.items():
        taken = {fold_name(column) for column, _ in pairs}
        for column, text in pairs:
            # In some databases the lists do not correspond: the text is another column's name.
            if _differs(text, column) and fold_name(text) not in taken:
                yield f"{table}.{column}", text


def _pair(entry: Entry, field: str) -> list[tuple[object, object]]:
    """Pairs of a name in the database and its natural name, from the entry's two lists."""
    original, natural = entry.values.get(f"{field}_original"), entry.values.get(field)
    if not isinstance(original, list) or not isinstance(natural, list):
        raise entry.error(field, f"and {field}_original must be lists")
    if len(original) != len(natural):
        raise entry.error(field, f"has {len(natural)} names, {field}_original {len(original)}")
    return list(zip(original, natural, strict=True))


def _differs(natural: str, original: str) -> bool:
    return bool(natural.strip()) and fold_name(natural) != fold_name(original)
