"""Verified examples in the index's PostgreSQL with pgvector.

Examples belong to a database's name: a new index does not change them. The search query itself
filters by principal as far as the store can. The store does not call the guard: the caller does,
before it shows an example.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nl2sql.types import Principal, Question, VerifiedQuery
from retrieval.index_store.table_store import TableStore, read_row

Source = Literal["file", "feedback"]

_IS_VISIBLE = """
 database = %(database)s AND embedder = %(embedder)s
   AND (%(sees_all)s OR source <> 'feedback' OR access = %(access)s)
   AND (roles = '{}' OR roles && %(roles)s::text[])
   AND folded IS DISTINCT FROM %(not_folded)s::text
   AND form <> ALL (%(seen)s::text[])
"""

_NEAREST = f"""
SELECT question, sql, form, pattern, 1 - (embedding <=> %(vector)s) AS cosine
  FROM quorumsql.examples WHERE {_IS_VISIBLE}
 ORDER BY embedding <=> %(vector)s, created_at DESC, id LIMIT %(limit)s
"""

# A hash of the columns of an example's tables as they are indexed now.
_SHAPE = """
(SELECT md5(coalesce(string_agg(concat_ws(' ', i.name, i.shape), ';' ORDER BY i.name), ''))
   FROM quorumsql.indexed_tables i
  WHERE i.database = e.indexed_database AND i.name = ANY (e.tables))
"""
_IS_EXPIRED = f"(e.shape <> '' AND e.shape <> {_SHAPE})"

# Whether its query may be an answer for the principal, and did not call it wrong since.
_MAY_ANSWER = f"""
 (source <> 'feedback' OR reviewed OR given_by = %(principal)s) AND NOT {_IS_EXPIRED}
"""
# As ``fold_question`` does.
_FOLDED = r"btrim(regexp_replace(lower({}), '\s+', ' ', 'g'), ' ?.!')"
_CALLED_WRONG = f"""
SELECT 1 FROM quorumsql.feedback f
 WHERE f.database = %(database)s AND f.sql = {{sql}} AND NOT f.is_right
   AND {_FOLDED.format("f.question")} = {_FOLDED.format("{question}")}
   AND f.given_by = %(principal)s AND f.given_at > {{since}}
"""
_IS_VERIFIED = f"""
 {_MAY_ANSWER} AND NOT EXISTS (
    {_CALLED_WRONG.format(sql="e.sql", question="e.question", since="e.created_at")})
"""

_LATEST = f"""
SELECT question, sql, form, pattern, 0.0::float8 AS cosine
  FROM quorumsql.examples e
 WHERE {_IS_VISIBLE} AND {_IS_VERIFIED} ORDER BY created_at DESC, id LIMIT %(limit)s
"""

_SAME_QUESTION = f"""
SELECT pattern, sql, given_by, created_at, source, title FROM quorumsql.examples e
 WHERE {_IS_VISIBLE} AND folded = %(folded)s AND {_IS_VERIFIED}
 ORDER BY created_at DESC, pattern <> '', id LIMIT %(limit)s
"""
_PATTERNS = f"""
SELECT pattern, given_by, created_at, source, title FROM quorumsql.examples e
 WHERE {_IS_VISIBLE} AND pattern <> '' AND {_MAY_ANSWER} ORDER BY created_at DESC, id
"""
# Only the first that the guard passes is used.
_MOST_VERIFIED = 8


@dataclass(frozen=True, slots=True)
class VerifiedExample:
    """A question about ``database`` and the query that answers it.

    ``id`` is a hash of what tells it from others: of a file its question and roles, of feedback its
    pair and who gave it. ``access`` is the access key of the sender, empty for a pair from a file.
    Only principals with one of ``roles`` are shown it; empty means all principals. ``tables`` are
    qualified names in the index of ``indexed_database``, which is another if the name is an
    assistant's. ``reviewed`` says that it is feedback of somebody who may review answers.
    ``pattern`` is the pair with its parameters and phrasings (``pairs.py``), empty without any.
    The store knows the ``embedder`` of its vector (``name_vectors``), and whether it has
    ``expired``: its tables have other columns than when it was stored.
    """

    id: str
    database: str
    question: str
    masked: str
    sql: str
    form: str
    tables: tuple[str, ...]
    source: Source
    given_by: str
    access: str = ""
    roles: tuple[str, ...] = ()
    created_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    reviewed: bool = False
    title: str = ""
    pattern: str = ""
    indexed_database: str = ""
    embedder: str = ""
    expired: bool = False

    @property
    def is_in_exam(self) -> bool:
        """Whether a reviewer called the query right for the question."""
        return self.source == "feedback" and self.reviewed


_STORED = {each.name for each in fields(VerifiedExample)} - {"expired"}
_REPLACE = "ON CONFLICT (database, id) DO UPDATE SET " + ", ".join(
    f"{name} = EXCLUDED.{name}" for name in (*_STORED, "folded", "embedding")
)


def fold_question(question: str) -> str:
    """Folds case, spacing and final punctuation of a question, so that repetitions are equal.

    >>> fold_question(" How many  Orders? ")
    'how many orders'
    """
    return " ".join(question.casefold().split()).rstrip(" ?.!")


def build_access_key(principal: Principal) -> str:
    """A hash of roles and attributes: equal for principals who may see the same rows.

    >>> mia = Principal("mia", ("clerk", "buyer"), (("region", 1),))
    >>> build_access_key(mia) == build_access_key(
    ...     Principal("ann", ("buyer", "clerk"), (("region", 1),)))
    True
    """
    attributes = sorted(principal.attributes, key=lambda pair: pair[0])
    text = json.dumps([sorted(set(principal.roles)), attributes])
    return hashlib.sha256(text.encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class ExampleScope:
    """The examples that a search may return, as far as the store can decide.

    ``embedder``: the name of the vectors to search (``name_vectors``).
    ``sees_all``: the policy hides nothing of the database from anybody; otherwise feedback of
    another ``access`` is left out, and so is the folded question ``not_folded``, if given.
    ``principal`` is the name of who asks.
    """

    database: str
    embedder: str
    sees_all: bool
    access: str
    principal: str
    roles: tuple[str, ...]
    not_folded: str | None = None


@dataclass(frozen=True, slots=True)
class FoundExample:
    """A search result; ``cosine`` is 0 where no vector was searched."""

    question: str
    sql: str
    form: str
    pattern: str
    cosine: float


class ExampleStore(TableStore):
    """Reads and writes examples. All methods raise IndexUnavailable."""

    # -- searching -----------------------------------------------------------------------------

    async def find(
        self,
        scope: ExampleScope,
        vector: NDArray[np.float32] | None,
        limit: int,
        seen: Collection[str] = (),
    ) -> list[FoundExample]:
        """At most ``limit`` examples of the scope, without the query forms ``seen``.

        The nearest to ``vector`` first; without it the latest verified ones.
        """
        query = _LATEST if vector is None else _NEAREST
        parameters = {**_list_parameters(scope, limit, seen), "vector": vector}
        rows = await self._fetch(query, parameters)
        return [read_row(FoundExample, row) for row in rows]

    async def find_verified(
        self, scope: ExampleScope, folded: str
    ) -> list[tuple[str, VerifiedQuery]]:
        """The patterns and queries of the scope for one folded question, the latest first.

        Not the feedback of others, unless it is reviewed, nor what the principal called wrong or
        what has expired: a table that it reads has other columns since.
        """
        parameters = _list_parameters(scope, _MOST_VERIFIED, ())
        rows = await self._fetch(_SAME_QUESTION, {**parameters, "folded": folded})
        return [(pattern, VerifiedQuery(*row)) for pattern, *row in rows]

    async def find_patterns(self, scope: ExampleScope) -> list[VerifiedQuery]:
        """All of the scope that have parameters and have not expired, the latest first.

        Their ``sql`` is the pattern.
        """
        rows = await self._fetch(_PATTERNS, _list_parameters(scope, _MOST_VERIFIED, ()))
        return [VerifiedQuery(*row) for row in rows]

    async def is_called_wrong(self, question: Question, sql: str, since: datetime) -> bool:
        """Whether who asks called this query wrong for the question."""
        given = {"sql": sql, "question": question.text, "since": since}
        statement = _CALLED_WRONG.format(**{name: f"%({name})s" for name in given})
        who = {"database": question.database, "principal": question.principal.name}
        return bool(await self._fetch(statement, given | who))

    async def has_any(self, database: str) -> bool:
        """Whether the database has an example at all."""
        statement = "SELECT 1 FROM quorumsql.examples WHERE database = %(database)s LIMIT 1"
        return bool(await self._fetch(statement, {"database": database}))

    async def find_pattern(self, database: str, id_: str) -> str | None:
        """The pattern of the example with this id; None if there is none."""
        statement = (
            "SELECT pattern FROM quorumsql.examples WHERE database = %(database)s AND id = %(id)s"
        )
        row = await self._fetch_row(statement, {"database": database, "id": id_})
        return row[0] if row else None

    # -- upkeep --------------------------------------------------------------------------------

    async def put(
        self, examples: Sequence[VerifiedExample], vectors: NDArray[np.float32], embedder: str
    ) -> None:
        """Stores the examples in one transaction; they replace examples of the same id."""
        rows = [
            {name: getattr(example, name) for name in _STORED}
            | {"folded": fold_question(example.question)}
            | {"embedder": embedder, "embedding": vector}
            for example, vector in zip(examples, vectors, strict=True)
        ]
        await self._insert("examples", rows, _REPLACE)
        await self._change(
            f"UPDATE quorumsql.examples AS e SET shape = {_SHAPE}"
            " WHERE database = ANY (%(databases)s) AND id = ANY (%(ids)s)",
            {
                "databases": [example.database for example in examples],
                "ids": [example.id for example in examples],
            },
        )

    async def embed_again(
        self, examples: Sequence[VerifiedExample], vectors: NDArray[np.float32], embedder: str
    ) -> None:
        """Replaces the masked questions and their vectors, of examples that are still there."""
        for example, vector in zip(examples, vectors, strict=True):
            await self._change(
                "UPDATE quorumsql.examples SET masked = %(masked)s, embedder = %(embedder)s,"
                " embedding = %(embedding)s WHERE database = %(database)s AND id = %(id)s",
                asdict(example) | {"embedder": embedder, "embedding": vector},
            )

    async def list_examples(self, database: str) -> list[VerifiedExample]:
        """All examples of the database, oldest first."""
        return await self._list(
            VerifiedExample,
            "examples",
            f"AS e CROSS JOIN LATERAL (SELECT {_IS_EXPIRED} AS expired) AS state"
            " WHERE database = %(database)s ORDER BY created_at, id",
            {"database": database},
        )

    async def remove_feedback(
        self, database: str, question: str, form: str, access: str, given_by: str | None
    ) -> int:
        """Removes feedback that gave this query form, and returns its number.

        Of one person with this access, or of everybody with it (None).
        """
        return await self._change(
            "DELETE FROM quorumsql.examples WHERE database = %(database)s AND source = 'feedback'"
            " AND folded = %(folded)s AND form = %(form)s AND access = %(access)s"
            " AND given_by = coalesce(%(given_by)s::text, given_by)",
            {
                "database": database,
                "folded": fold_question(question),
                "form": form,
                "access": access,
                "given_by": given_by,
            },
        )

    async def remove(self, database: str, ids: Collection[str]) -> int:
        """Removes the examples with these ids and returns their number."""
        return await self._change(
            "DELETE FROM quorumsql.examples WHERE database = %(database)s AND id = ANY (%(ids)s)",
            {"database": database, "ids": list(ids)},
        )


def _list_parameters(scope: ExampleScope, limit: int, seen: Collection[str]) -> dict[str, Any]:
    return asdict(scope) | {"roles": list(scope.roles), "seen": list(seen), "limit": limit}
