"""Converts SQLite's errors to Diagnostics, with PostgreSQL's SQLSTATE codes.

SQLite has codes for errors of files, limits and rights; all errors of a query have the same one,
SQLITE_ERROR, and differ only in the text. Only this module reads that text. An unknown message
becomes ``XX000``.
"""

from __future__ import annotations

import re
import sqlite3

from execution.error_disclosure import withhold_values
from nl2sql.types import QUERY_CANCELED, Diagnostic

_BY_CODE = {
    sqlite3.SQLITE_INTERRUPT: QUERY_CANCELED,
    sqlite3.SQLITE_AUTH: "42501",
    sqlite3.SQLITE_TOOBIG: "54000",
    sqlite3.SQLITE_FULL: "53100",
    sqlite3.SQLITE_MISMATCH: "42804",
}

MEMORY_DIAGNOSTIC = Diagnostic(
    "53200", "Out of memory.", hint="Narrow the query down, or raise limits.file_memory_mib."
)
"""For SQLITE_NOMEM, which Python raises as MemoryError."""

# The file cannot be read (at the moment), whatever the query.
_GONE = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_PROTOCOL,
        # Nothing here writes: the log of a file in WAL mode could not be created.
        sqlite3.SQLITE_READONLY,
    }
)

_BY_MESSAGE = tuple(
    (re.compile(pattern), sqlstate)
    for pattern, sqlstate in (
        (r"^no such column: ", "42703"),
        (r"^cannot join using column .* - column not present", "42703"),
        (r"^no such (table|view): |^no tables specified|^no such index: ", "42P01"),
        (r"^ambiguous column name: |^ambiguous reference to ", "42702"),
        (r"^misuse of aggregate|^aggregate functions are not allowed", "42803"),
        (r"^a GROUP BY clause is required|^HAVING clause on a non-aggregate", "42803"),
        (r"^misuse of window function|^no such window: |window functions? ", "42P20"),
        (r"^no such function: |^wrong number of arguments to function ", "42883"),
        (r"^(unsafe use of|access to|not authorized|authorization denied)", "42501"),
        (r"ORDER BY term (does not match|out of range)|GROUP BY term out of range", "42P10"),
        (r"^circular reference: |recursive reference", "42P19"),
        (r"^table .* has \d+ values for \d+ columns", "42P10"),
        (r"^no such collation sequence: ", "42704"),
        (r"^integer overflow", "22003"),
        (r"malformed JSON|JSON path error|bad JSON path", "22032"),
        (r"syntax error|^unrecognized token: |^incomplete input|row value misused", "42601"),
        (r"do not have the same number of result columns|columns - expected ", "42601"),
        (r"clause should come (before|after)|one statement at a time|null character", "42601"),
        (r"too many|too large|stack overflow|at most \d+ tables", "54001"),
    )
)


def build_diagnostic(
    error: sqlite3.Error | sqlite3.Warning, *, restricted: bool = False, running: bool = True
) -> Diagnostic:
    """The error as a Diagnostic. Python's interface to SQLite gives no position.

    ``restricted`` and ``running`` decide what is withheld, see ``error_disclosure.py``.
    """
    message = str(error)
    state = _BY_CODE.get(_primary_code(error), "")
    if not state:
        found = (state for pattern, state in _BY_MESSAGE if pattern.search(message))
        state = next(found, "XX000")
    diagnostic = Diagnostic(sqlstate=state, message=message)
    return withhold_values(diagnostic, running=running) if restricted else diagnostic


def is_gone(error: sqlite3.Error | sqlite3.Warning) -> bool:
    """True if the file is at fault, not the query."""
    return _primary_code(error) in _GONE


def _primary_code(error: sqlite3.Error | sqlite3.Warning) -> int:
    # The rest of an extended code is not needed here.
    return int(getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)) & 0xFF
