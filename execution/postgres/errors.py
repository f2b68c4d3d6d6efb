"""Converts PostgreSQL's errors to Diagnostics.

Knows psycopg's exceptions and nothing of queries or results. ``is_gone`` recognises errors of the
connection, which the adapter raises as DatabaseUnavailable.
"""

from __future__ import annotations

import psycopg

from execution.error_disclosure import withhold_values
from nl2sql.types import Diagnostic

# SQLSTATEs that mean "the server is going away", not "the query is wrong": connection exceptions,
# and the shutdown and cannot-connect-now codes of class 57. A server that ends a transaction that
# took too long (25P03, 25P04) ends the connection with it.
_GONE_CLASS = "08"
_GONE_CODES = ("57P01", "57P02", "57P03", "57P05", "25P03", "25P04")
# In the class of connection exceptions, but it means that a placeholder has no value.
_PROTOCOL_VIOLATION = "08P01"


def is_gone(error: psycopg.Error) -> bool:
    """True if the connection or the server is at fault, not the query."""
    state = error.sqlstate
    if state is None or state in _GONE_CODES:
        return True
    return state[:2] == _GONE_CLASS and state != _PROTOCOL_VIOLATION


def build_diagnostic(
    error: psycopg.Error, *, offset: int, restricted: bool, running: bool
) -> Diagnostic:
    """The error as a Diagnostic.

    ``offset`` characters preceded the query in what was sent: positions count from the start of the
    query. ``restricted`` and ``running`` decide what is withheld, see ``error_disclosure.py``.
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
    # The context names the function, in any language, that raised the error.
    return withhold_values(diagnostic, running=running, in_function=bool(diag.context))
