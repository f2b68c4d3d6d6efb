"""A PostgreSQL database in pg_dump's custom format, with questions beside it.

A folder contains one ``*.dump`` and ``questions.json``, a JSON list of ``{question, query}``,
optionally with ``id``, ``evidence`` and ``difficulty``. A question may name its schema, as
``schema`` or (if the schema was a separate database) as ``db_id``: that schema is then its database
and search path. The name is read as in SQL: it is folded to lower case unless it is in double
quotes. ``query`` may be a list, ``notation`` and ``unanswerable`` are as in ``jsonl``.

A file of another name than ``questions.json`` is read too, and adds its name to the benchmark's: a
link to the dump beside it suffices.
"""

from __future__ import annotations

from pathlib import Path

from data.benchmarks.entries import (
    build_benchmark,
    drop_unanswerable,
    peek_fields,
    read_json_entries,
)
from data.benchmarks.types import Benchmark, Example, PostgresFile, Source
from nl2sql.errors import SettingsError

LAYOUT = "questions.json, a list of {question, query}, with exactly one *.dump beside it"


def find_dump(path: Path) -> Path | None:
    """The questions file at ``path`` (for a folder or a dump: the one in that folder), or None."""
    folder = path if path.is_dir() else path.parent
    questions = folder / "questions.json" if path.is_dir() or path.suffix == ".dump" else path
    if questions.suffix != ".json" or not questions.is_file() or len(_find_dumps(questions)) != 1:
        return None
    return questions if {"question", "query"} <= peek_fields(questions) else None


def load_dump(questions: Path) -> Benchmark:
    """The benchmark of a questions file that ``find_dump`` found. Raises SettingsError."""
    match _find_dumps(questions):
        case [dump]:
            stem = dump.stem
        case dumps:
            raise SettingsError(
                f"There are {len(dumps)} files *.dump beside {questions}.", hint="Leave only one."
            )
    examples = []
    databases: dict[str, Source] = {}
    for entry in drop_unanswerable(read_json_entries(questions)):
        schema = _fold(entry.optional_text("schema") or entry.optional_text("db_id"))
        name = f"{stem}_{schema}" if schema else stem
        databases[name] = PostgresFile(dump, schemas=(schema,) if schema else ())
        examples.append(
            Example(
                id=entry.optional_text("id") or f"{stem}-{entry.number:04d}",
                database=name,
                question=entry.text("question"),
                golds=entry.golds("query"),
                evidence=entry.optional_text("evidence"),
                difficulty=entry.optional_text("difficulty"),
            )
        )
    return build_benchmark(
        questions,
        name=stem if questions.stem == "questions" else f"{stem} {questions.stem}",
        dialect="postgres",
        examples=examples,
        databases=databases,
        missing={},
        descriptions={},
    )


def _find_dumps(questions: Path) -> list[Path]:
    return sorted(questions.parent.glob("*.dump"))


def _fold(name: str) -> str:
    """The name as PostgreSQL reads it."""
    if len(name) > 2 and name[0] == name[-1] == '"':
        return name[1:-1].replace('""', '"')
    return name.lower()
