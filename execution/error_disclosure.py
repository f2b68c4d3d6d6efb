"""Removes values from error messages for principals from whom rows, tables or columns are hidden.

Databases quote values in their errors: ``invalid input syntax for type integer: "Miller"``. For a
restricted principal the message is therefore replaced by the standard name of the condition, and
the hint is dropped, unless the SQLSTATE class is on an allowlist of those whose messages cannot
contain a value. The list is short once rows are read: ``name::regclass`` fails in the class of
unknown tables, with the name in its message. An unforeseen error thus shows too little, never too
much.

Names and classes are those of PostgreSQL's documentation, appendix A, as psycopg has them. Knows
only SQLSTATEs: adapters translate their databases' codes. It does not hide that there was an error,
which is why filters are security barriers.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace

from psycopg import errors

from nl2sql.types import TOO_COMPLEX, Diagnostic, Explained

# While a query is parsed and planned no row is read: its errors quote only the query.
_PLANNING_CLASSES = frozenset({"0A", "25", "3D", "3F", "40", "42", "53", "54", "55", "57"})
# While it runs: states of the transaction and of the server, in the server's own words.
_RUNNING_CLASSES = frozenset({"25", "40", "53", "57"})

_WORD_START = re.compile(r"(?<=[a-z])(?=[A-Z])")


def withhold_values(
    diagnostic: Diagnostic, *, running: bool, in_function: bool = False
) -> Diagnostic:
    """The error without any text that could contain a value of a row.

    ``running`` says that the query was running, ``in_function`` that a function of the database
    raised it, whose author chose the message and the SQLSTATE.

    >>> error = Diagnostic("22P02", 'invalid input syntax for type integer: "Miller"')
    >>> withhold_values(error, running=True).message
    'invalid text representation (the rest is withheld: it could show data you may not see)'
    """
    allowed = _RUNNING_CLASSES if running else _PLANNING_CLASSES
    if diagnostic.sqlstate[:2] in allowed and not in_function:
        return diagnostic
    name = name_condition(diagnostic.sqlstate)
    words = f"{name} (the rest is withheld: it could show data you may not see)"
    return replace(diagnostic, message=words, hint="")


def weigh_estimate(
    finding: str, expected: float, most: int, explained: Explained, *, restricted: bool
) -> Explained | Diagnostic:
    """What was explained, or the error for a plan that expects more rows than ``most``.

    ``restricted`` principals do not see the estimate, which counts hidden rows too.
    """
    if expected <= most:
        return explained
    told = "" if restricted else f" ({expected:.3g})"
    return Diagnostic(
        TOO_COMPLEX,
        f"{finding}{told} than the {most:,} allowed.",
        hint="Join tables on their keys, narrow each table down before joining, or raise "
        "limits.max_estimated_rows.",
        explained=explained,
    )


def name_condition(sqlstate: str) -> str:
    """The condition's standard name, or that of its class.

    >>> name_condition("22012"), name_condition("22ZZZ"), name_condition("")
    ('division by zero', 'data exception', 'an error of the database')
    """
    for code in (sqlstate, f"{sqlstate[:2]}000"):
        with suppress(KeyError):
            # DivisionByZero, InternalError_
            name = errors.lookup(code).__name__.rstrip("_")
            return _WORD_START.sub(" ", name).lower()
    return "an error of the database"
