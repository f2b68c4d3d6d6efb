"""The PostgreSQL sets of defog (github.com/defog-ai/sql-eval, github.com/defog-ai/defog-data).

A questions file is a CSV with ``db_name, query_category, question, query`` and, in the sets with
hints, ``instructions`` (``full_instructions`` adds those of other questions and is ignored). Beside
it are ``<db_name>.sql``, a script with schema and rows, and ``<db_name>.json`` with
``{"table_metadata": {table: [{column_name, data_type, column_description}]}}``. For the notation of
the gold queries see ``gold_variants``.

Some rows depend on the day of restoring, and some questions are about the last month, so results
vary from day to day. sql-eval also accepts answers with more columns than the gold; here they are
wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from data.benchmarks.entries import (
    Entry,
    build_benchmark,
    find_questions,
    read_csv_entries,
    read_json,
)
from data.benchmarks.gold_variants import expand_gold
from data.benchmarks.types import Benchmark, Example, PostgresFile, Source
from nl2sql.errors import SettingsError

LAYOUT = "a CSV with db_name, query_category, question, query; <db_name>.sql beside it"

_FIELDS = {"db_name", "query_category", "question", "query"}
_OTHER_DIALECTS = ("bigquery", "mysql", "snowflake", "sqlite", "tsql")


def find_defog(path: Path) -> Path | None:
    """The questions file at ``path``, or None. Raises SettingsError for a folder with several."""
    return find_questions(path, "*.csv", _FIELDS)


def load_defog(questions: Path) -> Benchmark:
    """The benchmark of a questions file that ``find_defog`` found. Raises SettingsError."""
    dialect = questions.stem.rpartition("_")[2]
    if dialect in _OTHER_DIALECTS:
        raise SettingsError(
            f"{questions} contains queries for {dialect}.",
            hint="Use the file whose name ends in _postgres.csv.",
        )
    examples = []
    databases: dict[str, Source] = {}
    missing = {}
    descriptions = {}
    for entry in read_csv_entries(questions):
        example = _build_example(entry)
        examples.append(example)
        if example.database in databases or example.database in missing:
            continue
        file = questions.parent / f"{entry.file_name('db_name')}.sql"
        if file.is_file():
            databases[example.database] = PostgresFile(file)
            descriptions[example.database] = dict(_read_descriptions(file.with_suffix(".json")))
        else:
            missing[example.database] = f"There is no file {file}."
    return build_benchmark(
        questions,
        name=f"defog {questions.stem}",
        dialect="postgres",
        examples=examples,
        databases=databases,
        missing=missing,
        descriptions=descriptions,
    )


def _build_example(entry: Entry) -> Example:
    try:
        golds = expand_gold(entry.text("query"))
    except ValueError as error:
        raise entry.error("query", str(error)) from error
    return Example(
        id=f"{entry.path.stem}-{entry.number:04d}",
        database=f"defog_{entry.file_name('db_name')}",
        question=entry.text("question"),
        golds=golds,
        evidence=entry.optional_text("instructions"),
        difficulty=entry.text("query_category"),
    )


def _read_descriptions(path: Path) -> Iterator[tuple[str, str]]:
    """Pairs of ``table.column`` and its description; none if the file does not exist."""
    if not path.is_file():
        return
    match read_json(path):
        case {"table_metadata": dict() as tables}:
            pass
        case _:
            raise SettingsError(f"{path} has no object 'table_metadata'.")
    for table, columns in tables.items():
        for column in columns:
            match column:
                case {"column_name": str(name), "column_description": str(text)}:
                    if text.strip():
                        # Some tables have their schema before their name.
                        yield f"{table.rpartition('.')[2]}.{name}", text.strip()
                case _:
                    raise SettingsError(
                        f"{path}, table {table}: a column has no column_name or no "
                        f"column_description: {column!r}."
                    )
