"""Reads questions files entry by entry, with errors that name file, position and field.

Files are JSON lists, JSON lines or CSV, in UTF-8 with or
without a byte order mark.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from pathlib import Path

from data.benchmarks.gold_variants import expand_gold
from data.benchmarks.types import Benchmark, Example, Source
from nl2sql.errors import SettingsError

_TRAILING = re.compile(r"[\s;]+\Z")
# The names of one field in the formats.
_QUERIES = ("query", "SQL", "sql")


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a questions file. ``number`` counts from 1; ``unit`` is entry, line or row."""

    path: Path
    number: int
    values: Mapping[str, object]
    unit: str = "entry"

    def text(self, field: str) -> str:
        """The field as text; it may be a number. Raises SettingsError if missing or blank."""
        text = self.optional_text(field)
        if not text:
            raise self.error(field, "is missing or blank")
        return text

    def optional_text(self, field: str) -> str:
        """The field as text; empty if it is missing. Raises SettingsError for other types."""
        value = self.values.get(field)
        if value is None:
            return ""
        if not isinstance(value, str | int) or isinstance(value, bool):
            raise self.error(field, f"is a {type(value).__name__}, not text")
        return str(value).strip()

    def file_name(self, field: str) -> str:
        """The field as a file name. Raises SettingsError if it could leave the folder."""
        name = self.text(field)
        if name.startswith(".") or "/" in name or "\\" in name:
            raise self.error(field, f"is not a plain name: {name!r}")
        return name

    def golds(self) -> tuple[str, ...]:
        """The query, or a list of them: a result of any is right.

        With ``notation: sql-eval`` each is expanded by ``expand_gold``. Raises SettingsError.
        """
        field = next((name for name in _QUERIES if name in self.values), _QUERIES[0])
        notation = self.optional_text("notation")
        if notation not in ("", "sql-eval"):
            raise self.error("notation", f"is {notation!r}; only 'sql-eval' is known")
        values = self.values.get(field)
        queries = values if isinstance(values, list) else [self.text(field)]
        filled = (isinstance(query, str) and strip_query(query) for query in queries)
        if not queries or not all(filled):
            raise self.error(field, "must be a query or a list of queries")
        if not notation:
            return tuple(strip_query(query) for query in queries)
        try:
            expanded = [variant for query in queries for variant in expand_gold(query)]
        except ValueError as error:
            raise self.error(field, str(error)) from error
        return tuple(dict.fromkeys(expanded))

    def error(self, field: str, problem: str) -> SettingsError:
        """The error for a field of this entry."""
        return SettingsError(
            f"{self.path}, {self.unit} {self.number}: {field!r} {problem}.",
            hint="Correct or remove that entry.",
        )


def fold_name(name: str) -> str:
    """The name in lower case, without spaces and underscores.

    >>> fold_name("Order Date") == fold_name("order_date")
    True
    """
    return name.lower().replace("_", "").replace(" ", "")


def strip_query(query: str) -> str:
    """The query without surrounding white space and semicolons at its end.

    >>> strip_query(" SELECT 1 ; ")
    'SELECT 1'
    """
    return _TRAILING.sub("", query).lstrip()


def read_json_entries(path: Path) -> tuple[Entry, ...]:
    """The objects of a JSON list. Raises SettingsError."""
    values = read_json(path)
    if not isinstance(values, list):
        raise SettingsError(
            f"{path} contains a {type(values).__name__}.", hint="It must be a list of objects."
        )
    return tuple(_build(path, number, value) for number, value in enumerate(values, start=1))


def read_json_line_entries(path: Path) -> tuple[Entry, ...]:
    """The objects of a file with one in each line; skips blank lines. Raises SettingsError."""
    return tuple(
        _build(path, number, _parse(path, line, f", line {number}"), "line")
        # Not splitlines(): it also splits at U+2028, which JSON allows inside a string.
        for number, line in enumerate(_read(path).split("\n"), start=1)
        if line.strip()
    )


def read_csv_entries(path: Path) -> tuple[Entry, ...]:
    """The rows below a CSV file's header. Raises SettingsError."""
    rows = csv.DictReader(io.StringIO(_read(path), newline=""))
    entries = []
    try:
        for number, row in enumerate(rows, start=1):
            if None in row:
                raise SettingsError(
                    f"{path}, row {number}: has more fields than the header.",
                    hint="A field with a comma in it must be quoted.",
                )
            entries.append(Entry(path, number, row, "row"))
    except csv.Error as error:
        raise SettingsError(f"{path}, line {rows.line_num}: is not CSV: {error}.") from error
    return tuple(entries)


_READERS: Mapping[str, Callable[[Path], tuple[Entry, ...]]] = {
    ".json": read_json_entries,
    ".jsonl": read_json_line_entries,
    ".csv": read_csv_entries,
}


def peek_fields(path: Path) -> frozenset[str]:
    """The field names of the first entry; none for an empty file and for other kinds of files."""
    read = _READERS.get(path.suffix)
    first = next(iter(read(path)), None) if read else None
    return frozenset(first.values) if first else frozenset()


def find_questions(path: Path, pattern: str, fields: Set[str]) -> Path | None:
    """The file at ``path``, or the one of its ``pattern`` in that folder, whose entries have these.

    None without one. Raises SettingsError if there are several.
    """
    candidates = sorted(path.glob(pattern)) if path.is_dir() else [path]
    found = [file for file in candidates if file.is_file() and peek_fields(file) >= fields]
    if len(found) > 1:
        raise SettingsError(
            f"{path} contains several sets of questions.",
            hint=f"Name one of: {', '.join(map(str, found))}.",
        )
    return found[0] if found else None


def read_json(path: Path) -> object:
    """The value in a JSON file. Raises SettingsError."""
    return _parse(path, _read(path), "")


def build_benchmark(
    questions: Path,
    entries: Iterable[Entry],
    *,
    name: str,
    dialect: str,
    locate: Callable[[Entry], tuple[str, Source | str]],
    describe: Callable[[Entry], Mapping[str, str]] = lambda entry: {},
) -> Benchmark:
    """The benchmark of these entries, without those that say why they are ``unanswerable``.

    ``locate`` returns the name of an entry's database with its source, or why it is missing;
    ``describe`` the texts for ``table`` or ``table.column`` of a database. Raises SettingsError if
    there is no question or an id occurs twice.
    """
    examples: dict[str, Example] = {}
    databases: dict[str, Source] = {}
    missing: dict[str, str] = {}
    descriptions: dict[str, Mapping[str, str]] = {}
    for entry in entries:
        if entry.optional_text("unanswerable"):
            continue
        database, source = locate(entry)
        if isinstance(source, str):
            missing[database] = source
        elif database not in databases:
            databases[database] = source
            if texts := describe(entry):
                descriptions[database] = texts
        number = entry.optional_text("question_id") or f"{entry.number:04d}"
        id_ = entry.optional_text("id") or f"{questions.stem}-{number}"
        if id_ in examples:
            raise SettingsError(
                f"{questions}: the id {id_!r} occurs twice.",
                hint="Ids identify questions in results, so every question needs its own.",
            )
        examples[id_] = Example(
            id=id_,
            database=database,
            question=entry.text("question"),
            golds=entry.golds(),
            evidence=entry.optional_text("evidence") or entry.optional_text("instructions"),
            difficulty=entry.optional_text("difficulty") or entry.optional_text("query_category"),
        )
    if not examples:
        raise SettingsError(f"{questions} contains no questions.")
    return Benchmark(
        name=name,
        dialect=dialect,
        examples=tuple(examples.values()),
        databases=databases,
        sha256=hashlib.sha256(questions.read_bytes()).hexdigest(),
        missing=missing,
        descriptions=descriptions,
    )


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read: {error}.") from error


def _parse(path: Path, text: str, where: str) -> object:
    try:
        value: object = json.loads(text)
    except ValueError as error:
        raise SettingsError(f"{path}{where}: is not JSON: {error}.") from error
    return value


def _build(path: Path, number: int, value: object, unit: str = "entry") -> Entry:
    if not isinstance(value, dict):
        raise SettingsError(
            f"{path}, {unit} {number}: is a {type(value).__name__}, not an object.",
            hint="Every question is a JSON object.",
        )
    return Entry(path, number, value, unit)
