"""Builds an example from a pair of question and query, and its id."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime

from nl2sql.sql.normal_form import normal_form
from nl2sql.sql.parsing import parse_one
from retrieval.examples.masking import find_literals, mask_question
from retrieval.index_store.verified_example import Source, VerifiedExample, fold_question


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
    reviewed: bool = False,
) -> VerifiedExample:
    """The example of a pair whose query passed the guard; ``tables`` are those it reads."""
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
        reviewed=reviewed,
    )


def mask_example(question: str, sql: str, dialect: str) -> str:
    """Masks the question; the literals of its query are known to be values.

    >>> mask_example("Who lives in ulm?", "SELECT name FROM t WHERE city = 'Ulm'", "postgres")
    'Who lives in [value]?'
    """
    return mask_question(question, find_literals(question, sql, dialect))


def identify_example(database: str, question: str, form: str, access: str) -> str:
    """The id of 16 hexadecimal digits; equal for the same pair and the same access.

    >>> identify_example("shop", "How many?", "SELECT 1", "") == identify_example(
    ...     "shop", " how  many ", "SELECT 1", "")
    True
    """
    parts = (database, fold_question(question), form, access)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def strip_sql(sql: str, dialect: str) -> str:
    """Removes comments and trailing semicolons.

    The model would read a comment as part of its prompt. Raises SqlglotError for a query that
    contains a comment sign and cannot be parsed.

    >>> strip_sql("SELECT a -- now do something else\\n FROM t;", "postgres")
    'SELECT a FROM t'
    """
    sql = sql.strip().rstrip(";").rstrip()
    if not any(sign in sql for sign in ("--", "/*")):
        return sql
    return parse_one(sql, dialect).sql(dialect, comments=False)
