"""Imports feedback from an export: verifies it again and updates the examples accordingly.

Notes are imported in the order in which they were given, so the same examples result. Newer
feedback in the store on the same question takes precedence over the file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

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
    """Imports the notes whose query ``principal`` may run; a second run changes nothing.

    Raises IndexUnavailable, DatabaseUnavailable, UnknownDatabase, PolicyError.
    """
    present = await store.list_feedback(database)
    times = {note.id: note.given_at for note in present}
    # Oldest first, so the newest note of a question remains.
    latest = {_build_key(note): note.given_at for note in present}
    stored = known = 0
    left_out: list[LeftOut] = []
    numbered = sorted(enumerate(notes, start=1), key=lambda pair: pair[1].given_at)
    for done, (number, note) in enumerate(numbered, start=1):
        if note.id in times and times[note.id] >= note.given_at:
            known += 1
        else:
            is_outdated = latest.get(_build_key(note), note.given_at) > note.given_at
            receipt = await recorder.take_note(note, principal, changes_examples=not is_outdated)
            if receipt.outcome == "refused":
                left_out.append(LeftOut(number, note.question, receipt.reason))
            else:
                stored += 1
        progress(done, len(notes))
    return ImportReport(stored, known, tuple(left_out))


def _build_key(note: FeedbackNote) -> tuple[str, str]:
    return fold_question(note.question), note.access
