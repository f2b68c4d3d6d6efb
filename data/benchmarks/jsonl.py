"""Questions about databases of the settings file, as JSON lines.

A line is ``{id, database, question, query}``, optionally with ``evidence`` and ``difficulty``;
other fields are ignored. ``query`` may be a list: a result equal to that of any of them is right.
With ``notation: sql-eval`` each query is in the notation of ``gold_variants``. A line with
``unanswerable``, the reason why the database cannot answer, has no query and is left out.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from data.benchmarks.entries import (
    build_benchmark,
    drop_unanswerable,
    find_questions,
    read_json_line_entries,
)
from data.benchmarks.types import Benchmark, Configured, Example, Source

LAYOUT = "a *.jsonl of {id, database, question, query} about databases of the settings file"


def find_jsonl(path: Path) -> Path | None:
    """The questions file at ``path``, or None. Raises SettingsError for a folder with several."""
    return find_questions(path, "*.jsonl", {"database", "question", "query"})


def load_jsonl(questions: Path, configured: Collection[str]) -> Benchmark:
    """The benchmark of a questions file. Raises SettingsError.

    A database that is not among ``configured`` is missing.
    """
    examples = []
    databases: dict[str, Source] = {}
    missing = {}
    for entry in drop_unanswerable(read_json_line_entries(questions)):
        name = entry.text("database")
        if name in configured:
            databases[name] = Configured()
        else:
            known = ", ".join(sorted(configured)) or "none"
            missing[name] = f"The settings file has no database {name!r}; it has {known}."
        examples.append(
            Example(
                id=entry.text("id"),
                database=name,
                question=entry.text("question"),
                golds=entry.golds("query"),
                evidence=entry.optional_text("evidence"),
                difficulty=entry.optional_text("difficulty"),
            )
        )
    return build_benchmark(
        questions,
        name=questions.stem,
        dialect="postgres",
        examples=examples,
        databases=databases,
        missing=missing,
        descriptions={},
    )
