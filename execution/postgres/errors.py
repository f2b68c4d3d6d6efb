"""PostgreSQL's errors in the form in which errors travel here.

Knows psycopg's exceptions and nothing of queries or results. What it does not cover: errors of the
connection, which the adapter raises as DatabaseUnavailable; ``is_gone`` tells them apart.
"""

from __future__ import annotations

import psycopg

from execution.error_disclosure import withhold_values
from nl2sql.types import Diagnostic, GuardedQuery

# SQLSTATEs that mean "the server is going away", not "the query is wrong": connection exceptions,
# and the shutdown and cannot-connect-now codes of class 57. A server that ends a transaction that
# took too long (25P03, 25P04) ends the connection with it.
_GONE_CLASS = "08"
_GONE_CODES = ("57P01", "57P02", "57P03", "57P05", "25P03", "25P04")
# A connection exception by its class, but what it says is that a placeholder has no value.
_PROTOCOL_VIOLATION = "08P01"


def is_gone(error: psycopg.Error) -> bool:
    """True when the connection or the server is at fault, not the query."""
    state = error.sqlstate
    if state is None or state in _GONE_CODES:
        return True
    return state[:2] == _GONE_CLASS and state != _PROTOCOL_VIOLATION


def check_text(query: GuardedQuery) -> Diagnostic | None:
    """Why the query cannot even be sent: PostgreSQL's text holds no NUL and no half surrogates."""
    values = [
        each
        for value in query.params
        for each in (value if isinstance(value, tuple) else (value,))
        if isinstance(each, str)
    ]
    for text in (query.sql, *values):
        try:
            sendable = b"\0" not in text.encode()
        except UnicodeEncodeError:
            sendable = False
        if not sendable:
            return Diagnostic("22021", "The query holds a character that no text here can hold.")
    return None


def build_diagnostic(
    error: psycopg.Error, *, offset: int, restricted: bool, running: bool
) -> Diagnostic:
    """The error as a value.

    ``offset`` characters preceded the query in what was sent: positions count from the query's own
    start. ``restricted`` and ``running`` decide what it may say, see ``conditions``.
    """
    diag = error.diag
    position = int(diag.statement_position or 0)
    diagnostic = Diagnostic(
        sqlstate=error.sqlstate or "",
        message=diag.message_primary or str(error).strip(),
        position=max(0, position - offset),
        hint=diag.message_hint or "",
    )
    if not restricted:
        return diagnostic
    # A context names the function, of whatever language, that was at work.
    return withhold_values(diagnostic, running=running, in_function=bool(diag.context))
