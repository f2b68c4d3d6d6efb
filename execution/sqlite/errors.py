"""SQLite's errors in the form in which errors travel here, with PostgreSQL's SQLSTATE codes.

SQLite has a code of its own for what happens to files, limits and rights; for everything that can
be wrong with a query there is one, SQLITE_ERROR, and the text of the message. Nobody but this
module reads that text. A message that it does not know becomes ``XX000``.
"""

from __future__ import annotations

import re
import sqlite3

from execution.error_disclosure import withhold_values
from nl2sql.types import Diagnostic

# What the whole statement was ended for; also given where nothing was heard of it in time.
QUERY_CANCELED = "57014"

_BY_CODE = {
    sqlite3.SQLITE_INTERRUPT: QUERY_CANCELED,
    sqlite3.SQLITE_AUTH: "42501",
    sqlite3.SQLITE_TOOBIG: "54000",
    sqlite3.SQLITE_NOMEM: "53200",
    sqlite3.SQLITE_FULL: "53100",
    sqlite3.SQLITE_MISMATCH: "42804",
}

# The file cannot be read (now), whatever the query.
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
        # Nothing here writes: it is the log of a file in WAL mode that cannot be made.
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
    """The error as a value. SQLite names no position in this form of its interface.

    ``restricted`` and ``running`` decide what it may say, see ``conditions``.
    """
    message = str(error)
    state = _BY_CODE.get(_primary_code(error), "")
    if not state:
        found = (state for pattern, state in _BY_MESSAGE if pattern.search(message))
        state = next(found, "XX000")
    diagnostic = Diagnostic(sqlstate=state, message=message)
    return withhold_values(diagnostic, running=running) if restricted else diagnostic


def is_gone(error: sqlite3.Error | sqlite3.Warning) -> bool:
    """True when the file is at fault, not the query."""
    return _primary_code(error) in _GONE


def _primary_code(error: sqlite3.Error | sqlite3.Warning) -> int:
    # The rest of an extended code says more than is needed here.
    return int(getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)) & 0xFF
