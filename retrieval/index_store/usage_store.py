"""What principals have used, counted in the index's PostgreSQL for all replicas together.

A principal's row is locked while its counts are checked and changed, so that two replicas never
grant the same remainder twice. The server's clock decides minutes and days.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import date

from nl2sql.types import UsageLimits
from retrieval.index_store.table_store import TableStore

_TODAY = "(now() AT TIME ZONE 'UTC')::date"
_TO_MIDNIGHT = f"extract(epoch FROM {_TODAY} + interval '1 day' - now() AT TIME ZONE 'UTC')::float8"
_IS_OVER = "used.minute_began <= now() - interval '1 minute'"

_ADMIT = f"""
INSERT INTO quorumsql.usage AS used (principal, requests) VALUES (%(principal)s, 1)
ON CONFLICT (principal) DO UPDATE SET
    minute_began = CASE WHEN {_IS_OVER} THEN now() ELSE used.minute_began END,
    requests = CASE WHEN {_IS_OVER} THEN 1 ELSE used.requests + 1 END
RETURNING requests, 60 - extract(epoch FROM now() - minute_began)::float8
"""
_READ = f"""
SELECT coalesce(CASE WHEN NOT ({_IS_OVER}) THEN requests END, 0),
    coalesce(CASE WHEN NOT ({_IS_OVER})
        THEN 60 - extract(epoch FROM now() - minute_began)::float8 END, 60),
    coalesce(CASE WHEN day = {_TODAY} THEN tokens END, 0),
    coalesce(CASE WHEN day = {_TODAY} THEN result_rows END, 0),
    {_TO_MIDNIGHT},
    (SELECT count(*) FROM quorumsql.question_leases AS lease
     WHERE lease.principal = %(principal)s AND lease.expires_at > now())
FROM (SELECT) AS one LEFT JOIN quorumsql.usage AS used ON used.principal = %(principal)s
"""
# Sets the counts of an earlier day to 0, and locks the row until the transaction ends.
_BEGIN_DAY = f"""
INSERT INTO quorumsql.usage AS used (principal) VALUES (%s)
ON CONFLICT (principal) DO UPDATE SET
    tokens = CASE WHEN used.day < {_TODAY} THEN 0 ELSE used.tokens END,
    result_rows = CASE WHEN used.day < {_TODAY} THEN 0 ELSE used.result_rows END,
    day = greatest(used.day, {_TODAY})
RETURNING day, tokens, result_rows, {_TO_MIDNIGHT}
"""
# The leases of questions that have not ended; deletes those that expired.
_COUNT_LEASES = """
WITH expired AS (
    DELETE FROM quorumsql.question_leases WHERE principal = %(principal)s AND expires_at <= now())
SELECT count(*) FROM quorumsql.question_leases
 WHERE principal = %(principal)s AND expires_at > now()
"""


@dataclass(frozen=True, slots=True)
class UsageCounts:
    """What a principal has used, and the seconds until the counts restart."""

    requests: int
    minute_ends_s: float
    questions: int
    tokens: int
    rows: int
    day_ends_s: float


@dataclass(frozen=True, slots=True)
class Exceeded:
    """The limit (a field of UsageLimits) that forbids a question, and for how many seconds."""

    limit: str
    retry_after_s: float


@dataclass(frozen=True, slots=True)
class QuestionLease:
    """The right to answer one question; ``rows`` are reserved (None: not limited)."""

    id: str
    principal: str
    day: date
    rows: int | None


class UsageStore(TableStore):
    """Counts usage. All methods raise IndexUnavailable."""

    async def count_request(self, principal: str) -> tuple[int, float]:
        """Counts a request: those of the present minute, and the seconds until that ends."""
        [(requests, minute_s)] = await self._fetch(_ADMIT, {"principal": principal})
        return requests, max(minute_s, 0.0)

    async def read(self, principal: str) -> UsageCounts:
        """What ``principal`` has used; counts nothing."""
        [row] = await self._fetch(_READ, {"principal": principal})
        requests, minute_s, tokens, rows, day_s, questions = row
        return UsageCounts(requests, max(minute_s, 0.0), questions, tokens, rows, max(day_s, 0.0))

    async def begin_question(
        self, principal: str, limits: UsageLimits, *, rows: int, lease_s: float
    ) -> QuestionLease | Exceeded:
        """Takes a lease, which ends after ``lease_s`` if ``end_question`` is never called.

        If rows are limited, as many of ``rows`` as remain are reserved.
        """
        async with self._index.connection() as connection, connection.transaction():
            begun = await connection.execute(_BEGIN_DAY.encode(), (principal,))
            [(day, tokens, used_rows, to_midnight)] = await begun.fetchall()
            if limits.tokens_per_day and tokens >= limits.tokens_per_day:
                return Exceeded("tokens_per_day", to_midnight)
            reserved = None
            if limits.rows_per_day:
                reserved = min(rows, limits.rows_per_day - used_rows)
                if reserved <= 0:
                    return Exceeded("rows_per_day", to_midnight)
            leases = await connection.execute(_COUNT_LEASES.encode(), {"principal": principal})
            [(under_way,)] = await leases.fetchall()
            if limits.questions_at_once and under_way >= limits.questions_at_once:
                return Exceeded("questions_at_once", 1.0)
            lease = QuestionLease(secrets.token_hex(8), principal, day, reserved)
            await connection.execute(
                "INSERT INTO quorumsql.question_leases"
                " VALUES (%s, %s, now() + %s * interval '1 second')",
                (lease.id, principal, float(lease_s)),
            )
            await connection.execute(
                "UPDATE quorumsql.usage SET result_rows = result_rows + %s WHERE principal = %s",
                (reserved or 0, principal),
            )
        return lease

    async def end_question(self, lease: QuestionLease, *, tokens: int, rows: int) -> None:
        """Returns the lease; counts the tokens and rows that were used instead of the reserved."""
        async with self._index.connection() as connection, connection.transaction():
            begun = await connection.execute(_BEGIN_DAY.encode(), (lease.principal,))
            [(day, *_)] = await begun.fetchall()
            await connection.execute(
                "UPDATE quorumsql.usage SET tokens = tokens + %s, result_rows = result_rows + %s"
                " WHERE principal = %s",
                (tokens, rows - (lease.rows or 0) * (day == lease.day), lease.principal),
            )
            await connection.execute(
                "DELETE FROM quorumsql.question_leases WHERE id = %s", (lease.id,)
            )
