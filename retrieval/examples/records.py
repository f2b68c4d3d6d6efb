"""An example: a question and the query that answers it, verified, and who gave it.

Knows nothing of how examples are stored or found.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from nl2sql.sql_text import normal_form
from nl2sql.sql_text.parsing import parse_one
from nl2sql.types import Principal
from retrieval.examples.masking import find_literals, mask_question

Source = Literal["file", "benchmark", "feedback"]


@dataclass(frozen=True, slots=True)
class VerifiedExample:
    """A question about ``database`` and the query that answers it.

    ``id`` is a hash over what makes it this example, so that the same pair given twice is one.
    ``access`` is the access key of who gave it, empty where it came from a file; ``roles`` limits
    who is shown it, nobody being left out where there are none. ``tables`` are qualified names.
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
    access: str
    roles: tuple[str, ...]
    created_at: datetime


def build_example(
    database: str,
    question: str,
    sql: str,
    tables: tuple[str, ...],
    *,
    dialect: str,
    source: Source,
    given_by: str,
    access: str = "",
    roles: tuple[str, ...] = (),
    created_at: datetime | None = None,
) -> VerifiedExample:
    """The example of a pair whose query passed the guard; ``tables`` is what the query reads."""
    question = " ".join(question.split())
    form = normal_form(sql, dialect)
    return VerifiedExample(
        id=identify_example(database, question, form, access),
        database=database,
        question=question,
        masked=mask_example(question, sql, dialect),
        sql=sql,
        form=form,
        tables=tables,
        source=source,
        given_by=given_by,
        access=access,
        roles=tuple(sorted(set(roles))),
        created_at=created_at or datetime.now(UTC),
    )


def mask_example(question: str, sql: str, dialect: str) -> str:
    """The question without its entities: the query's own literals are known to be some.

    >>> mask_example("Who lives in ulm?", "SELECT name FROM t WHERE city = 'Ulm'", "postgres")
    'Who lives in [value]?'
    """
    return mask_question(question, find_literals(question, sql, dialect))


def identify_example(database: str, question: str, form: str, access: str) -> str:
    """The id: 16 hexadecimal digits, the same for the same pair under the same access.

    >>> identify_example("shop", "How many?", "SELECT 1", "") == identify_example(
    ...     "shop", " how  many ", "SELECT 1", "")
    True
    """
    return _hash(database, fold_question(question), form, access)[:16]


def fold_question(question: str) -> str:
    """What is equal for a question in any case, spacing and final punctuation.

    >>> fold_question(" How many  Orders? ")
    'how many orders'
    """
    return " ".join(question.casefold().split()).rstrip(" ?.!")


def build_access_key(principal: Principal) -> str:
    """The same for principals who may see the same rows: equal roles and equal attributes.

    >>> mia = Principal("mia", ("clerk", "buyer"), (("region", 1),))
    >>> build_access_key(mia) == build_access_key(
    ...     Principal("ann", ("buyer", "clerk"), (("region", 1),)))
    True
    """
    attributes = sorted(principal.attributes, key=lambda pair: pair[0])
    return _hash(json.dumps([sorted(set(principal.roles)), attributes]))[:32]


def strip_sql(sql: str, dialect: str) -> str:
    """The query without comments and without semicolons at its end.

    A comment proves nothing about the query, and would speak to the model. Raises SqlglotError for
    a query that has a comment sign in it and cannot be parsed.

    >>> strip_sql("SELECT a -- now do something else\\n FROM t;", "postgres")
    'SELECT a FROM t'
    """
    sql = sql.strip().rstrip(";").rstrip()
    if not any(sign in sql for sign in ("--", "/*")):
        return sql
    return parse_one(sql, dialect).sql(dialect, comments=False)


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
