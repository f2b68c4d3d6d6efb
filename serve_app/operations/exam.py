"""Adds the answers that reviewers called right to a questions file, for ``eval run``.

The file is the team's own and in Git, so nothing in it is changed: a question that it has already
is left as it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from data.benchmarks.entries import read_json_line_entries, strip_query
from retrieval.index_store.example_store import VerifiedExample, fold_question

# Enough of the hash to tell the questions of a file apart.
_ID_CHARS = 12


@dataclass(frozen=True, slots=True)
class ExamChange:
    """Numbers of questions; ``differing`` are those for which the file has another query."""

    file: Path
    added: int
    known: int
    differing: tuple[str, ...]


def add_to_exam(path: Path, examples: Iterable[VerifiedExample]) -> ExamChange:
    """Appends a line for each new question of ``examples``, which are in the order of their age.

    Only feedback that a reviewer gave counts; of several queries for a question, the latest. Raises
    SettingsError if the file is no questions file.
    """
    latest = {
        (example.database, fold_question(example.question)): example
        for example in examples
        if example.source == "feedback" and example.reviewed
    }
    entries = read_json_line_entries(path) if path.exists() else ()
    present = {
        (entry.text("database"), fold_question(entry.text("question"))): (
            () if entry.optional_text("unanswerable") else entry.golds()
        )
        for entry in entries
    }
    new = [example for key, example in latest.items() if key not in present]
    if new:
        is_torn = path.exists() and not path.read_bytes().endswith(b"\n")
        with path.open("a", encoding="utf-8") as file:
            file.write("\n" * is_torn + "".join(map(_render_line, new)))
    return ExamChange(
        path,
        added=len(new),
        known=len(latest) - len(new),
        differing=tuple(
            example.question
            for key, example in latest.items()
            if key in present and strip_query(example.sql) not in present[key]
        ),
    )


def _render_line(example: VerifiedExample) -> str:
    values = {
        "id": example.id[:_ID_CHARS],
        "database": example.database,
        "question": example.question,
        "query": strip_query(example.sql),
    }
    return json.dumps(values, ensure_ascii=False) + "\n"
