"""Adds the answers that reviewers called right to a questions file, for ``eval run``.

The file is the team's own and in Git, so nothing in it is changed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from data.benchmarks.entries import read_json_line_entries
from retrieval.index_store.example_store import VerifiedExample, fold_question

# Enough of the hash to tell the questions of a file apart.
_ID_CHARS = 12


def add_to_exam(path: Path, examples: Iterable[VerifiedExample]) -> tuple[str, ...]:
    """Appends the questions that the file does not have yet, and returns them.

    ``examples`` are in the order of their age. Only feedback that a reviewer gave counts, of a
    question the latest. Raises SettingsError if the file is no questions file.
    """
    keys: dict[str, tuple[str, str]] = {}
    latest: dict[tuple[str, str], VerifiedExample] = {}
    for example in examples:
        if example.is_in_exam:
            key = example.database, fold_question(example.question)
            keys[example.id[:_ID_CHARS]], latest[key] = key, example
    for entry in read_json_line_entries(path) if path.exists() else ():
        key = entry.text("database"), fold_question(entry.text("question"))
        # By its id too: the text may have been corrected in the file.
        for had in (key, keys.get(entry.optional_text("id"), key)):
            latest.pop(had, None)
    if latest:
        is_torn = path.exists() and not path.read_bytes().endswith(b"\n")
        with path.open("a", encoding="utf-8") as file:
            file.write("\n" * is_torn + "".join(map(_render_line, latest.values())))
    return tuple(example.question for example in latest.values())


def _render_line(example: VerifiedExample) -> str:
    values = {
        "id": example.id[:_ID_CHARS],
        "database": example.database,
        "question": example.question,
        "query": example.sql,
    }
    return json.dumps(values, ensure_ascii=False) + "\n"
