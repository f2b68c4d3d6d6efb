"""Feedback of an export is given again: verified, and with what comes of it for the examples.

It is given in the order of its times, so the examples are those that they were. What was said here
later about the same question counts more than what a file says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from nl2sql.types import Principal
from retrieval.examples.feedback import FeedbackRecorder
from retrieval.examples.importing import ImportReport, LeftOut
from retrieval.index_store.example_store import ExampleStore
from retrieval.index_store.feedback_note import FeedbackNote
from retrieval.index_store.verified_example import fold_question


async def import_feedback(
    database: str,
    notes: Sequence[FeedbackNote],
    principal: Principal,
    *,
    store: ExampleStore,
    recorder: FeedbackRecorder,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> ImportReport:
    """Takes what is verified as ``principal``; the same file again changes nothing.

    Raises IndexUnavailable, DatabaseUnavailable, UnknownDatabase, PolicyError.
    """
    present = await store.list_feedback(database)
    times = {note.id: note.given_at for note in present}
    latest: dict[tuple[str, str], datetime] = {}
    for note in present:  # oldest first
        latest[_about(note)] = note.given_at
    stored = known = 0
    left_out: list[LeftOut] = []
    numbered = sorted(enumerate(notes, start=1), key=lambda pair: pair[1].given_at)
    for done, (number, note) in enumerate(numbered, start=1):
        if note.id in times and times[note.id] >= note.given_at:
            known += 1
        else:
            said_since = latest.get(_about(note), note.given_at) > note.given_at
            receipt = await recorder.take_note(note, principal, changes_examples=not said_since)
            if receipt.outcome == "refused":
                left_out.append(LeftOut(number, note.question, receipt.reason))
            else:
                stored += 1
        progress(done, len(notes))
    return ImportReport(stored, known, tuple(left_out))


def _about(note: FeedbackNote) -> tuple[str, str]:
    return fold_question(note.question), note.access
