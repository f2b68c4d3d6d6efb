"""Converts DuckDB's errors to Diagnostics, with PostgreSQL's SQLSTATE codes.

DuckDB has a class for each kind of error and no codes. The class decides if it is specific enough,
otherwise the text of the message, which only this module reads. Messages come as JSON
(``errors_as_json``), with the position.

Text that could contain a value of a row is withheld from restricted principals, see
``error_disclosure.py``.
"""

from __future__ import annotations

import re

import duckdb

from execution.error_disclosure import withhold_values
from nl2sql.duckdb_files import read_duckdb_error
from nl2sql.types import QUERY_CANCELED, Diagnostic

# The most specific of these classes decides; of the rest it is told only that something failed.
SQLSTATES: dict[type[Exception], str] = {
    duckdb.Error: "XX000",
    duckdb.BinderException: "42000",
    duckdb.CatalogException: "42704",
    duckdb.ConversionException: "22P02",
    duckdb.InterruptException: QUERY_CANCELED,
    duckdb.InvalidInputException: "22023",
    duckdb.InvalidTypeException: "42704",
    duckdb.IOException: "58030",
    duckdb.NotImplementedException: "0A000",
    duckdb.OutOfMemoryException: "53200",
    duckdb.OutOfRangeException: "22003",
    duckdb.ParserException: "42601",
    duckdb.PermissionException: "42501",
    duckdb.SyntaxException: "42601",
    duckdb.TypeMismatchException: "42804",
}

_MESSAGES: dict[type[Exception], tuple[tuple[re.Pattern[str], str], ...]] = {
    kind: tuple((re.compile(pattern), sqlstate) for pattern, sqlstate in table)
    for kind, table in {
        duckdb.BinderException: (
            (r"^Referenced table ", "42P01"),
            (r"^Referenced column |does not have a column named|^Could not find key ", "42703"),
            (r"^Column .* does not exist on ", "42703"),
            (r"^Ambiguous reference to ", "42702"),
            (r"must appear in the GROUP BY clause|cannot contain aggregates", "42803"),
            (r"^aggregate function calls cannot be nested", "42803"),
            (r"window functions?\b", "42P20"),
            (r"^Window functions are not supported here", "42P20"),
            (r"^No function matches |^Could not choose a best candidate", "42883"),
            (r"^ORDER term out of range|^GROUP BY term out of range", "42P10"),
            (r"columns available but \d+ columns specified", "42P10"),
            (r"same number of result columns|^Subquery returns \d+ columns", "42601"),
            (r"[Rr]ecursive (CTE|reference)|^Circular reference", "42P19"),
            (r"^Cannot (compare|mix) values of type|^Cannot cast ", "42804"),
            (r"can only be applied to ", "42804"),
            (r"^LIMIT/OFFSET cannot be negative", "2201W"),
        ),
        duckdb.CatalogException: (
            (r"^Table with name ", "42P01"),
            (r"^View with name ", "42P01"),
            (r"Function with name |^Macro ", "42883"),
            (r"^Schema with name ", "3F000"),
        ),
        duckdb.ConversionException: (
            (r"^Malformed JSON", "22032"),
            (r"^(invalid )?(date|time|timestamp|interval) field|to INTERVAL", "22007"),
            (r"[Oo]ut of range|can't be cast|^Could not cast value ", "22003"),
        ),
        duckdb.InvalidInputException: (
            (r"^Division by zero", "22012"),
            (r"^More than one row returned by a subquery", "21000"),
            (r"^Malformed JSON|JSON path", "22032"),
            (r"^Cannot take (the )?logarithm", "2201E"),
            (r"^Could not parse string .* format specifier", "22007"),
            (r"^(missing|invalid|unexpected|no argument for|bad) .*: ", "2201B"),
            (r"in read-only mode", "25006"),
            (r"configuration has been locked", "42501"),
            (r"^Values were not provided ", "42P02"),
        ),
        duckdb.ParserException: ((r"expression depth|stack overflow", "54001"),),
    }.items()
}

# The file cannot be read (at the moment), whatever the query.
_GONE = (
    duckdb.ConnectionException,
    duckdb.FatalException,
    duckdb.IOException,
    duckdb.ResourceInUseException,
    duckdb.SerializationException,
)

# Hints that replace DuckDB's, which name settings that cannot be changed here.
_HINTS = {
    "21000": "Aggregate the subquery, or end it with LIMIT 1.",
    "53200": "Narrow the query down, or raise limits.file_memory_mib.",
}
# The most letters of DuckDB's list of candidates that are shown.
_LONGEST_HINT = 500


def build_diagnostic(
    error: duckdb.Error,
    statement: str = "",
    *,
    offset: int = 0,
    restricted: bool = False,
    running: bool = True,
) -> Diagnostic:
    """The error as a Diagnostic; ``offset`` characters precede the query in the ``statement``.

    From ``restricted`` principals, text that could contain a value is withheld; ``running`` says
    that the query was running.
    """
    told = read_duckdb_error(error)
    message, _, rest = told["exception_message"].partition("\n")
    position = 0
    if "position" in told:
        # DuckDB counts bytes, from 0.
        before = statement.encode()[: int(told["position"])].decode(errors="ignore")
        position = max(0, len(before) + 1 - offset)
    sqlstate = _find_state(error, message)
    diagnostic = Diagnostic(
        sqlstate=sqlstate,
        message=message,
        position=position,
        hint=_HINTS.get(sqlstate) or " ".join(rest.split())[:_LONGEST_HINT],
    )
    return withhold_values(diagnostic, running=running) if restricted else diagnostic


def is_gone(error: duckdb.Error) -> bool:
    """True if the file is at fault, not the query."""
    return isinstance(error, _GONE) and not isinstance(error, duckdb.HTTPException)


def _find_state(error: duckdb.Error, message: str) -> str:
    for kind in type(error).__mro__:
        for pattern, sqlstate in _MESSAGES.get(kind, ()):
            if pattern.search(message):
                return sqlstate
        if kind in SQLSTATES:
            return SQLSTATES[kind]
    return "XX000"
