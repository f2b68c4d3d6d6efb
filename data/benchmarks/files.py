"""Questions beside the files of their databases.

A folder contains ``questions.json``, a JSON list of ``{question, query}``, optionally with ``id``,
``evidence`` and ``difficulty``, and files of databases: ``*.sqlite`` and ``*.duckdb``, and for
PostgreSQL ``*.dump`` (pg_dump's custom format) or ``*.sql``. ``database`` names the file, with or
without its ending; beside a single file it may be left out. ``db`` and ``sql`` are read like
``database`` and ``query``; what follows the name after a blank is a remark. ``query`` may be a
list, ``notation`` and ``unanswerable`` are as in ``jsonl``.

A question may name its schema in a dump or script, as ``schema`` or (if the schema was a separate
database) as ``db_id``: that schema is then its database and search path. The name is read as in
SQL: it is folded to lower case unless it is in double quotes.

A file of another name than ``questions.json`` is read too, and adds its name to the benchmark's: a
link to the databases beside it suffices.
"""

from __future__ import annotations

from pathlib import Path

from data.benchmarks.entries import (
    Entry,
    build_benchmark,
    drop_unanswerable,
    peek_fields,
    read_json_entries,
)
from data.benchmarks.types import Benchmark, Example, LocalFile, PostgresFile, Source
from nl2sql.errors import SettingsError

LAYOUT = "questions.json, a list of {question, query, database}, with the databases' files beside"

_IN_PLACE = {".sqlite": "sqlite", ".duckdb": "duckdb"}
_RESTORED = (".dump", ".sql")
_ENDINGS = (*_IN_PLACE, *_RESTORED)


def find_files(path: Path) -> Path | None:
    """The questions file at ``path`` (for a folder: the one in it), or None."""
    questions = path / "questions.json" if path.is_dir() else path
    if questions.suffix != ".json" or not questions.is_file() or not _find_databases(questions):
        return None
    fields = peek_fields(questions)
    return questions if "question" in fields and fields & {"query", "sql"} else None


def load_files(questions: Path) -> Benchmark:
    """The benchmark of a questions file that ``find_files`` found. Raises SettingsError."""
    files = _find_databases(questions)
    single = next(iter(files)) if len(files) == 1 else ""
    examples = []
    databases: dict[str, Source] = {}
    missing = {}
    for entry in drop_unanswerable(read_json_entries(questions)):
        stem = _read_database(entry, single)
        schema, file = "", files.get(stem)
        if file is not None and file.suffix in _RESTORED:
            schema = _fold(entry.optional_text("schema") or entry.optional_text("db_id"))
        name = f"files_{stem}_{schema}" if schema else f"files_{stem}"
        if file is None:
            missing[name] = f"There is no file {stem} with an ending of {', '.join(_ENDINGS)}."
        elif file.suffix in _RESTORED:
            databases[name] = PostgresFile(file, (schema,) if schema else ())
        else:
            databases[name] = LocalFile(file)
        examples.append(
            Example(
                id=entry.optional_text("id") or f"{stem}-{entry.number:04d}",
                database=name,
                question=entry.text("question"),
                golds=entry.golds("query" if "query" in entry.values else "sql"),
                evidence=entry.optional_text("evidence"),
                difficulty=entry.optional_text("difficulty"),
            )
        )
    folder = single or questions.absolute().parent.name
    dialects = {_IN_PLACE.get(file.suffix, "postgres") for file in files.values()}
    return build_benchmark(
        questions,
        name=folder if questions.stem == "questions" else f"{folder} {questions.stem}",
        dialect=", ".join(sorted(dialects)),
        examples=examples,
        databases=databases,
        missing=missing,
        descriptions={},
    )


def _find_databases(questions: Path) -> dict[str, Path]:
    """The files of databases by their names without ending. Raises SettingsError for two of one."""
    found: dict[str, Path] = {}
    for file in sorted(questions.parent.iterdir()):
        if file.suffix in _ENDINGS:
            if file.stem in found:
                raise SettingsError(
                    f"{found[file.stem]} and {file} are databases of one name.",
                    hint="Rename or remove one.",
                )
            found[file.stem] = file
    return found


def _read_database(entry: Entry, single: str) -> str:
    field = "database" if "database" in entry.values else "db"
    if not single or entry.optional_text(field):
        path = Path(entry.text(field).split()[0])
        return path.stem if path.suffix in _ENDINGS else path.name
    return single


def _fold(name: str) -> str:
    """The name as PostgreSQL reads it."""
    if len(name) > 2 and name[0] == name[-1] == '"':
        return name[1:-1].replace('""', '"')
    return name.lower()
