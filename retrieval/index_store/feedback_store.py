"""Feedback on answers, and its review, in the index's PostgreSQL.

The store does not call the guard: the caller does, before it shows a note.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Literal

from nl2sql.types import Principal
from retrieval.index_store.example_store import build_access_key
from retrieval.index_store.table_store import TableStore, read_row

_NOT_REVIEWED = "reviewed_by = '', reviewed_at = NULL, corrected_with = ''"

FeedbackOutcome = Literal["stored", "known", "removed", "recorded", "refused"]


@dataclass(frozen=True, slots=True)
class Feedback:
    """Whether ``sql`` answers the question, and otherwise the ``correction``, if it is known.

    ``is_reviewed``: the principal may review answers, so the right query holds for others too.
    ``parameters`` name values of it that may be others; None keeps those that are stored.
    """

    database: str
    question: str
    sql: str
    is_right: bool
    principal: Principal
    correction: str = ""
    is_reviewed: bool = False
    parameters: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class FeedbackNote:
    """Whether ``sql`` answers ``question`` according to ``given_by``, and the outcome.

    ``id`` is a hash of content and sender, so that repeated feedback is one note. ``correction``
    and ``outcome`` may be empty; ``access`` is the access key of the sender. ``reviewed_by`` is
    empty while nobody has worked through it; ``corrected_with`` is the id of the note whose
    correction closed it (empty: none did).

    A question that was asked back is a note with this outcome: ``sql`` and ``correction`` are then
    its first readings.
    """

    id: str
    database: str
    question: str
    sql: str
    is_right: bool
    correction: str
    given_by: str
    access: str
    outcome: FeedbackOutcome | Literal["", "asked_back"]
    given_at: datetime
    reviewed_by: str = ""
    corrected_with: str = ""

    @property
    def right_sql(self) -> str:
        """The query that answers the question according to the note; empty if there is none."""
        return self.correction or (self.sql if self.is_right else "")

    @property
    def kind(self) -> Literal["right", "wrong", "asked_back", "corrected"]:
        """``corrected`` is a wrong answer with its right query."""
        if self.is_right:
            return "right"
        if self.outcome == "asked_back":
            return "asked_back"
        return "corrected" if self.correction else "wrong"

    @property
    def gravity(self) -> int:
        """2 for a wrong answer, 1 for a question that was asked back, 0 with an open correction."""
        if self.outcome == "asked_back":
            return 1
        return 0 if self.correction and not self.reviewed_by else 2


_NOTE = ", ".join(field.name for field in fields(FeedbackNote))
# The latest turn of each question without an answer or feedback since.
_ASKED_BACK = """
SELECT DISTINCT ON (database, asked) 'asked-' || number, database, asked, interpretations[1], false,
       coalesce(interpretations[2], ''), %(name)s::text, '', 'asked_back', asked_at, '', '', 1
  FROM quorumsql.conversation_turns t
 CROSS JOIN LATERAL (SELECT coalesce(nullif(rewritten, ''), question) AS asked) AS a
 WHERE owner = %(owner)s AND outcome = 'clarify' AND interpretations <> '{}'
   AND asked_at > now() - make_interval(days => %(days)s)
   AND NOT EXISTS (
       SELECT 1 FROM quorumsql.conversation_turns n
        WHERE n.owner = t.owner AND n.database = t.database AND n.number > t.number
          AND n.outcome = 'answered' AND asked IN (n.question, n.rewritten))
   AND NOT EXISTS (
       SELECT 1 FROM quorumsql.feedback f
        WHERE f.database = t.database AND f.question = asked AND f.given_by = %(name)s
          AND f.access = %(access)s)
 ORDER BY database, asked, number DESC
"""
_WORST = f"""
SELECT {_NOTE} FROM (
    SELECT {_NOTE}, CASE WHEN correction <> '' AND reviewed_by = '' THEN 0 ELSE 2 END AS gravity
      FROM quorumsql.feedback
    UNION ALL SELECT * FROM ({_ASKED_BACK}) AS asked_back
) AS notes
 WHERE database = ANY (%(databases)s::text[]) AND is_right = %(is_right)s
   AND (reviewed_by <> '') = %(is_done)s
   AND (%(before)s::timestamptz IS NULL
        OR (gravity, given_at, id) < (%(gravity)s, %(before)s, %(before_id)s))
 ORDER BY gravity DESC, given_at DESC, id DESC LIMIT %(most)s
"""


def build_note(feedback: Feedback, given_at: datetime) -> FeedbackNote:
    """The note of new feedback, without an outcome."""
    content = (
        feedback.database,
        feedback.question,
        feedback.sql,
        feedback.is_right,
        feedback.correction,
        feedback.principal.name,
        build_access_key(feedback.principal),
    )
    id_ = hashlib.sha256(json.dumps(content).encode()).hexdigest()[:32]
    return FeedbackNote(id_, *content, "", given_at)


class FeedbackStore(TableStore):
    """Reads and writes notes, and marks them as done. All methods raise IndexUnavailable."""

    async def record(self, note: FeedbackNote) -> None:
        """Stores the note; for one with the same id, updates its time and outcome.

        If it is given again, it waits for a reviewer again.
        """
        await self._insert(
            "feedback",
            [asdict(note)],
            "ON CONFLICT (id) DO UPDATE SET given_at = EXCLUDED.given_at,"
            f" outcome = EXCLUDED.outcome, {_NOT_REVIEWED}",
        )

    async def find(self, id_: str) -> FeedbackNote | None:
        """The note of that id."""
        return next(
            iter(await self._list(FeedbackNote, "feedback", "WHERE id = %(id)s", {"id": id_})), None
        )

    async def remove(self, id_: str) -> None:
        """Removes the note; what its correction closed waits for a reviewer again."""
        async with self._index.connection() as connection, connection.transaction():
            await connection.execute(
                f"UPDATE quorumsql.feedback SET {_NOT_REVIEWED} WHERE corrected_with = %s", (id_,)
            )
            await connection.execute("DELETE FROM quorumsql.feedback WHERE id = %s", (id_,))

    async def list_all(self, database: str, *, access: str = "") -> list[FeedbackNote]:
        """All feedback on the database's answers, oldest first; with ``access``, only its own."""
        return await self._list(
            FeedbackNote,
            "feedback",
            "WHERE database = %(database)s AND (%(access)s = '' OR access = %(access)s)"
            " ORDER BY given_at, id",
            {"database": database, "access": access},
        )

    # -- review --------------------------------------------------------------------------------

    async def list_worst(
        self,
        databases: Collection[str],
        asker: Principal,
        *,
        owner: str,
        days: int,
        is_right: bool,
        is_done: bool,
        before: tuple[int, datetime, str] | None,
        most: int,
    ) -> list[FeedbackNote]:
        """At most ``most`` notes, the gravest first, the latest first among these.

        ``before`` is the gravity, time and id of one. Of conversations only the ``asker``'s, who is
        their ``owner``, of so many ``days`` are read.
        """
        gravity, moment, id_ = before or (0, None, "")
        parameters = {
            "owner": owner,
            "name": asker.name,
            "access": build_access_key(asker),
            "days": days,
            "databases": list(databases),
            "is_right": is_right,
            "is_done": is_done,
            "gravity": gravity,
            "before": moment,
            "before_id": id_,
            "most": most,
        }
        return [read_row(FeedbackNote, row) for row in await self._fetch(_WORST, parameters)]

    async def close_corrected(self, correction_id: str, *, all_givers: bool) -> None:
        """Closes open feedback on the same wrong answer as that whose correction was stored.

        With ``all_givers`` whoever gave it, and that feedback too; else what the same person gave
        before without a correction.
        """
        await self._change(
            "UPDATE quorumsql.feedback AS other SET reviewed_by = given.given_by,"
            " reviewed_at = now(), corrected_with = given.id FROM quorumsql.feedback AS given"
            " WHERE given.id = %(id)s AND other.database = given.database"
            " AND other.question = given.question AND other.sql = given.sql"
            " AND NOT other.is_right AND other.reviewed_by = ''"
            " AND (%(all_givers)s OR other.correction = '' AND other.id <> given.id"
            " AND other.given_by = given.given_by AND other.access = given.access)",
            {"id": correction_id, "all_givers": all_givers},
        )

    async def close(self, id_: str, reviewed_by: str) -> None:
        """Marks a note as done, unless it is."""
        await self._change(
            "UPDATE quorumsql.feedback SET reviewed_by = %(by)s, reviewed_at = now()"
            " WHERE id = %(id)s AND reviewed_by = ''",
            {"by": reviewed_by, "id": id_},
        )
