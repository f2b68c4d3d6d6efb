"""Why an answer that is to be reviewed went wrong, and the smallest change that helps, by rule.

Compares the queries of an item: nothing else is known of an answer once it is given.
"""

from __future__ import annotations

import re
from itertools import permutations
from typing import NamedTuple

from nl2sql.expectations.said_texts import list_numbers
from nl2sql.sql.query_gaps import Gap, GapKind, find_gap
from quorumsql.contract.feedback import ReviewKind
from retrieval.index_store.feedback_store import ReviewItem

_QUOTED = re.compile(r"[\"“„]([^\"“”]+)[\"”]")
_FIXES: dict[GapKind, str] = {
    "table": "Add a word of the question to the synonyms of the table {names}.",
    "value": "Add what the question says to the synonyms of the value {names}.",
    "definition": "Define the word of the question that means {names}.",
    "other": "Save the right query: it becomes an example.",
}


class ReviewCause(NamedTuple):
    """``kind`` says what the item is, ``cause`` what was missing; ``fix`` is a sentence."""

    kind: ReviewKind
    cause: GapKind = "other"
    fix: str = ""


def find_cause(item: ReviewItem, dialect: str) -> ReviewCause:
    """The cause that the queries show; ``other`` and no fix for a right answer.

    With a correction, it is what the correction has and the answer has not; of readings, what one
    has and the other has not. Otherwise only a figure or a quoted text of the question which the
    query lacks can be found.
    """
    note = item.note
    if note.is_right:
        return ReviewCause("right")
    if item.readings:
        gaps = (
            find_gap(right, [other], note.question, dialect)
            for right, other in permutations(item.readings[:2], 2)
        )
        gap = next((gap for gap in gaps if gap.kind != "other"), Gap("other"))
        return ReviewCause("asked_back", gap.kind, _write_fix(gap))
    if note.correction:
        gap = find_gap(note.correction, [note.sql], note.question, dialect)
        return ReviewCause("corrected", gap.kind, _write_fix(gap))
    said = (*list_numbers(note.question), *_QUOTED.findall(note.question))
    if absent := ", ".join(text for text in said if text.lower() not in note.sql.lower()):
        return ReviewCause("wrong", "value", f"The query lacks {absent}: correct it.")
    return ReviewCause("wrong", fix=_write_fix(Gap("other")))


def _write_fix(gap: Gap) -> str:
    return _FIXES[gap.kind].format(names=", ".join(gap.names))
