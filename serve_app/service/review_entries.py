"""Entries of the review: the cause of a wrong answer, its smallest fix, and what gave it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot.errors import SqlglotError

from evaluation.metrics.query_gaps import GapKind, find_gap, write_condition
from nl2sql.expectations.said_texts import list_numbers
from nl2sql.words import content_words, split_words
from quorumsql.contract.feedback import ReviewEntryResponse, VerifiedSourceResponse
from retrieval.examples.pairs import compile_query, read_pattern
from retrieval.examples.records import read_form
from retrieval.index_store.example_store import VerifiedExample, fold_question
from retrieval.index_store.feedback_store import FeedbackNote
from serve_app.service.history import render_time
from serve_app.service.rendering import copy_fields
from serve_app.settings import Settings

_FIXES: dict[GapKind, str] = {
    "table": "Add a word of the question to the synonyms of the table {names}. {index}",
    "value": "Add what the question says to the synonyms of the value {names}. {index} "
    "A definition of these words does the same and can be tried.",
    "definition": "Define the word of the question that means {names}.",
    "other": "Save the right query: it becomes an example.",
}
_READING = "Say which query is right, or correct it: it becomes an example."
_INDEX = (
    "Synonyms are part of the index and cannot be tried here: write them into {file}, then "
    "`quorumsql index build {source}`."
)


def pair_sources(
    entries: Sequence[FeedbackNote],
    database: str,
    examples: Sequence[VerifiedExample],
    dialect: str,
) -> dict[str, VerifiedExample]:
    """The id of each of the database's entries that an example answered, or that gave one → it.

    Of several the latest.
    """
    return {
        entry.id: example
        for example in examples
        for entry in entries
        if entry.database == database and _gives(example, entry, dialect)
    }


def _gives(example: VerifiedExample, entry: FeedbackNote, dialect: str) -> bool:
    if entry.is_right:
        return _is_of(example, entry, dialect)
    if not example.pattern:
        is_same = fold_question(example.question) == fold_question(entry.question)
        return is_same and example.sql == entry.sql
    try:
        return compile_query(example.pattern, dialect).fullmatch(entry.sql) is not None
    except (ValueError, SqlglotError, RecursionError):
        return False


def _is_of(example: VerifiedExample, note: FeedbackNote, dialect: str) -> bool:
    """Whether the note gave the example."""
    return (
        (note.given_by, note.access) == (example.given_by, example.access)
        and fold_question(note.question) == fold_question(example.question)
        and read_form(note.right_sql, dialect) == example.form
    )


def render_source(
    example: VerifiedExample, notes: Sequence[FeedbackNote], dialect: str
) -> VerifiedSourceResponse:
    """With the latest feedback that gave it, of which it is."""
    own = [note.id for note in notes if _is_of(example, note, dialect)]
    return VerifiedSourceResponse(
        # Without the values that its reviewer had in mind.
        question=read_pattern(example.pattern).question if example.pattern else example.question,
        given_by=example.given_by,
        given_at=render_time(example.created_at),
        example=example.id,
        feedback=own[-1] if own and example.source == "feedback" else "",
    )


def render_entry(
    entry: FeedbackNote, settings: Settings, verified: VerifiedSourceResponse | None
) -> ReviewEntryResponse:
    return copy_fields(
        ReviewEntryResponse,
        entry,
        given_at=render_time(entry.given_at),
        state="done" if entry.reviewed_by else "open",
        corrected_by=_name_corrector(entry),
        verified=verified,
        **_find_cause(entry, settings),
    )


def _find_cause(entry: FeedbackNote, settings: Settings) -> dict[str, str]:
    """The ``cause`` and the ``fix`` of a wrong answer.

    The queries show the cause: what the correction has and ``sql`` has not. Without one only a
    figure of the question can be missing. Of what was asked back, no reading is known to be right.
    """
    if entry.kind == "right":
        return {}
    if entry.kind == "corrected":
        database = settings.by_name[entry.database]
        gap = find_gap(entry.correction, [entry.sql], entry.question, database.dialect)
        source = settings.source_of(entry.database)
        file = f"`{database.synonyms or f'databases.{source}.synonyms'}`"
        index = _INDEX.format(file=file, source=source)
        fix = _FIXES[gap.kind].format(names=", ".join(gap.names), index=index)
        condition = write_condition(entry.correction, gap.names, database.dialect)
        named = {"name": _find_name(entry), "expression": condition} if condition else {}
        return {"cause": gap.kind, "fix": fix, **named}
    absent = ", ".join(each for each in list_numbers(entry.question) if each not in entry.sql)
    if absent and entry.sql and entry.kind == "wrong":
        return {"cause": "value", "fix": f"The query lacks {absent}: correct it."}
    return {"fix": _READING if entry.kind == "asked_back" else _FIXES["other"]}


def _find_name(entry: FeedbackNote) -> str:
    """The words of the question that are no words of its queries."""
    known = set(split_words(f"{entry.sql} {entry.correction}"))
    return " ".join(
        word
        for word in re.findall(r"[^\W\d_]+", entry.question)
        if not known.issuperset(content_words(word))
    )


def _name_corrector(entry: FeedbackNote) -> str:
    if entry.corrected_with:
        return entry.reviewed_by
    return entry.given_by if entry.correction and entry.outcome != "asked_back" else ""
