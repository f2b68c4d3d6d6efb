"""Removes values from error messages for principals from whom rows, tables or columns are hidden.

Databases quote values in their errors: ``invalid input syntax for type integer: "Miller"``. For a
restricted principal the message is therefore replaced by the standard name of the condition, and
the hint is dropped, unless the SQLSTATE class is on an allowlist of those whose messages cannot
contain a value. The list is short once rows are read: ``name::regclass`` fails in the class of
unknown tables, with the name in its message. An unforeseen error thus shows too little, never too
much.

Names and classes are those of the SQL standard and of PostgreSQL's documentation, appendix A. Knows
only SQLSTATEs: adapters translate their databases' codes. It does not hide that there was an error,
which is why guarded queries fence their filters.
"""

from __future__ import annotations

from dataclasses import replace

from nl2sql.types import Diagnostic

# While a query is parsed and planned no row is read: its errors quote only the query.
_PLANNING_CLASSES = frozenset({"0A", "25", "3D", "3F", "40", "42", "53", "54", "55", "57"})
# While it runs: states of the transaction and of the server, in the server's own words.
_RUNNING_CLASSES = frozenset({"25", "40", "53", "57"})

_CONDITIONS = {
    "22001": "string data right truncation",
    "22003": "numeric value out of range",
    "22004": "null value not allowed",
    "22007": "invalid datetime format",
    "22008": "datetime field overflow",
    "22009": "invalid time zone displacement value",
    "22011": "substring error",
    "22012": "division by zero",
    "22015": "interval field overflow",
    "2201B": "invalid regular expression",
    "2201E": "invalid argument for logarithm",
    "2201F": "invalid argument for power function",
    "22021": "character not in repertoire",
    "22023": "invalid parameter value",
    "22025": "invalid escape sequence",
    "2202E": "array subscript error",
    "22030": "duplicate JSON object key value",
    "22032": "invalid JSON text",
    "22033": "invalid SQL/JSON subscript",
    "22P02": "invalid text representation",
    "22P05": "untranslatable character",
    "42501": "insufficient privilege",
    "42601": "syntax error",
    "42703": "undefined column",
    "42704": "undefined object",
    "42883": "undefined function",
    "42P01": "undefined table",
    "54001": "statement too complex",
    "P0001": "raise exception",
}

_CLASSES = {
    "08": "connection exception",
    "0A": "feature not supported",
    "21": "cardinality violation",
    "22": "data exception",
    "23": "integrity constraint violation",
    "25": "invalid transaction state",
    "2F": "SQL routine exception",
    "38": "external routine exception",
    "39": "external routine invocation exception",
    "3D": "invalid catalog name",
    "3F": "invalid schema name",
    "40": "transaction rollback",
    "42": "syntax error or access rule violation",
    "44": "WITH CHECK OPTION violation",
    "53": "insufficient resources",
    "54": "program limit exceeded",
    "55": "object not in prerequisite state",
    "57": "operator intervention",
    "58": "system error",
    "F0": "configuration file error",
    "HV": "foreign data wrapper error",
    "P0": "PL/pgSQL error",
    "XX": "internal error",
}


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


def name_condition(sqlstate: str) -> str:
    """The condition's standard name, or that of its class.

    >>> name_condition("22012"), name_condition("22ZZZ"), name_condition("")
    ('division by zero', 'data exception', 'an error of the database')
    """
    return _CONDITIONS.get(sqlstate) or _CLASSES.get(sqlstate[:2], "an error of the database")
