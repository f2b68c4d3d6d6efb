"""Classes of errors of the guard or the database.

The class follows from the guard's code or the SQLSTATE, never from the text of a message.
SQLSTATEs are PostgreSQL's (documentation, appendix A); errors of SQLite and DuckDB use them too.
"""

from __future__ import annotations

from collections.abc import Mapping

from nl2sql.types import NOT_PERMITTED, Assessment, Violation

OTHER = "other"
UNREPAIRABLE = frozenset({"withheld", "unsafe", "server"})
"""Another form of the query could not help, or must not."""


def _index(codes: Mapping[str, str]) -> dict[str, str]:
    return {code: each for each, listed in codes.items() for code in listed.split()}


BY_GUARD_CODE = _index(
    {
        "too_much": "endless_recursion too_long too_many_columns too_many_rows too_much_text",
        "function": "function_not_allowed operator_not_allowed",
        "syntax": "multiple_statements unparsable",
        "construct": "node_not_allowed reads_differently unresolved",
        "withheld": NOT_PERMITTED,
        "unsafe": "not_a_query tables_disagree unfiltered_table",
        "types": "type_not_allowed",
        "ambiguous_name": "unexplained_column unexplained_table",
        "unknown_column": "unknown_column",
        "unknown_table": "unknown_table",
    }
)

_BY_SQLSTATE = _index(
    {
        "cardinality": "21000",
        "unknown_table": "3F000 42P01",
        "withheld": "42501",
        "syntax": "42601",
        "ambiguous_name": "42702 42712",
        "unknown_column": "42703",
        "types": "42704 42804 42846 42P18",
        "function": "42725 42883",
        "grouping": "42803",
        "shape": "42P10",
        "construct": "42P19",
        "window": "42P20",
        "too_much": "57014",
    }
)

# By the first two letters, for states without an entry of their own.
_BY_STATE_CLASS = _index(
    {
        "server": "08 55 57 58",
        "construct": "0A",
        "values": "22",
        "unsafe": "25",
        "syntax": "42",
        "too_much": "53 54",
    }
)


def classify_failure(failed: Assessment) -> str:
    """The class of the guard's or the database's error; ``OTHER`` if nothing more is known."""
    if isinstance(failed.verdict, Violation):
        return BY_GUARD_CODE.get(failed.verdict.code, OTHER)
    return classify_state(failed.diagnostic.sqlstate) if failed.diagnostic else OTHER


def classify_state(sqlstate: str) -> str:
    """The class of a database's error.

    >>> classify_state("42703"), classify_state("22012"), classify_state("XX000")
    ('unknown_column', 'values', 'other')
    """
    found = _BY_SQLSTATE.get(sqlstate) or _BY_STATE_CLASS.get(sqlstate[:2])
    return found or OTHER


def describe_failure(failed: Assessment) -> str:
    """The guard's or the database's error in one line, for the model and the trace."""
    if isinstance(failed.verdict, Violation):
        return _flatten(failed.verdict.message)
    if failed.diagnostic is None:
        return ""
    hint = f" {failed.diagnostic.hint}" if failed.diagnostic.hint else ""
    return _flatten(f"{failed.diagnostic.message}{hint} (SQLSTATE {failed.diagnostic.sqlstate})")


def describe_class(failed: Assessment) -> str:
    """The class of the error and its SQLSTATE, which unlike the message quote no value.

    >>> from nl2sql.types import Candidate, Diagnostic
    >>> broken = Assessment(Candidate("c1", "SELECT 1"), None, diagnostic=Diagnostic("22P02", "x"))
    >>> describe_class(broken)
    'values (SQLSTATE 22P02)'
    """
    name = classify_failure(failed).replace("_", " ")
    return f"{name} (SQLSTATE {failed.diagnostic.sqlstate})" if failed.diagnostic else name


def _flatten(text: str) -> str:
    """The text in one line, so that nothing in it looks like a part of the prompt."""
    return " ".join(text.split())
