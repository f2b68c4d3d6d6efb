"""Adds the answers that reviewers called right to a questions file, for ``eval run``.

The file is the team's own and in Git, so nothing in it is changed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from itertools import starmap
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
    latest = {
        _identify(example.database, example.question): example
        for example in examples
        if example.is_in_exam
    }
    for entry in read_json_line_entries(path) if path.exists() else ():
        latest.pop(_identify(entry.text("database"), entry.text("question")), None)
        # By its id too: the text may have been corrected in the file.
        latest.pop(entry.optional_text("id"), None)
    if latest:
        is_torn = path.exists() and not path.read_bytes().endswith(b"\n")
        with path.open("a", encoding="utf-8") as file:
            file.write("\n" * is_torn + "".join(starmap(_render_line, latest.items())))
    return tuple(example.question for example in latest.values())


def _identify(database: str, question: str) -> str:
    """The id of a question, whatever its query."""
    text = "\0".join((database, fold_question(question)))
    return hashlib.sha256(text.encode()).hexdigest()[:_ID_CHARS]


def _render_line(id_: str, example: VerifiedExample) -> str:
    values = {
        "id": id_,
        "database": example.database,
        "question": example.question,
        "query": example.sql,
    }
    return json.dumps(values, ensure_ascii=False) + "\n"
