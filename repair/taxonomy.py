"""Classes of errors of the guard or the database, with a suggestion for each.

The class follows from the guard's code or the SQLSTATE, never from the text of a message. The
suggestion is for the model that repairs. SQLSTATEs are PostgreSQL's (documentation, appendix A);
errors of SQLite and DuckDB use them too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from nl2sql.types import NOT_PERMITTED, Assessment, Violation


@dataclass(frozen=True, slots=True)
class ErrorClass:
    """``repairable`` is False if another form of the query could not help, or must not."""

    name: str
    suggestion: str
    repairable: bool = True


UNKNOWN_COLUMN = ErrorClass(
    "unknown_column",
    "Use only columns that the schema lists for the table, and join the table that has the column.",
)
UNKNOWN_TABLE = ErrorClass(
    "unknown_table", "Use only tables of the schema, spelled as they stand there."
)
AMBIGUOUS_NAME = ErrorClass(
    "ambiguous_name", "Write the table's alias before every column, and give each table its own."
)
GROUPING = ErrorClass(
    "grouping",
    "Put every selected column that is not aggregated into GROUP BY, and conditions on aggregates "
    "into HAVING.",
)
SYNTAX = ErrorClass("syntax", "Write one SELECT statement in the dialect of this database.")
FUNCTION = ErrorClass(
    "function", "Use functions and operators of this database only, with arguments of their types."
)
TYPES = ErrorClass("types", "Compare values of one type only, and cast where they differ.")
VALUES = ErrorClass(
    "values", "Keep numbers in their range, guard divisions with NULLIF, and write dates as dates."
)
CARDINALITY = ErrorClass(
    "cardinality", "A subquery used as a value must give one row: aggregate it, or use IN."
)
SHAPE = ErrorClass(
    "shape",
    "Give all parts of a UNION as many columns, and let ORDER BY name a column that is there.",
)
WINDOW = ErrorClass(
    "window", "Compute window functions in a subquery, and filter on them outside of it."
)
CONSTRUCT = ErrorClass("construct", "Write it as plain SELECTs with joins, without this construct.")
TOO_MUCH = ErrorClass(
    "too_much", "Join over keys, and add conditions or a LIMIT, so that less is computed."
)
WITHHELD = ErrorClass("withheld", "Ask for what you may see.", repairable=False)
UNSAFE = ErrorClass("unsafe", "Only one reading query may run.", repairable=False)
SERVER = ErrorClass("server", "The database could not do it now; ask again.", repairable=False)
OTHER = ErrorClass("other", "Write the query in a simpler way.")


def _index(codes: Mapping[ErrorClass, str]) -> dict[str, ErrorClass]:
    return {code: each for each, listed in codes.items() for code in listed.split()}


BY_GUARD_CODE = _index(
    {
        TOO_MUCH: "endless_recursion too_long too_many_columns too_many_rows too_much_text",
        FUNCTION: "function_not_allowed operator_not_allowed",
        SYNTAX: "multiple_statements unparsable",
        CONSTRUCT: "node_not_allowed reads_differently unresolved",
        WITHHELD: NOT_PERMITTED,
        UNSAFE: "not_a_query tables_disagree unfiltered_table",
        TYPES: "type_not_allowed",
        AMBIGUOUS_NAME: "unexplained_column unexplained_table",
        UNKNOWN_COLUMN: "unknown_column",
        UNKNOWN_TABLE: "unknown_table",
    }
)

_BY_SQLSTATE = _index(
    {
        CARDINALITY: "21000",
        UNKNOWN_TABLE: "3F000 42P01",
        WITHHELD: "42501",
        SYNTAX: "42601",
        AMBIGUOUS_NAME: "42702 42712",
        UNKNOWN_COLUMN: "42703",
        TYPES: "42704 42804 42846 42P18",
        FUNCTION: "42725 42883",
        GROUPING: "42803",
        SHAPE: "42P10",
        CONSTRUCT: "42P19",
        WINDOW: "42P20",
        TOO_MUCH: "57014",
    }
)

# By the first two letters, for states without an entry of their own.
_BY_STATE_CLASS = _index(
    {
        SERVER: "08 55 57 58",
        CONSTRUCT: "0A",
        VALUES: "22",
        UNSAFE: "25",
        SYNTAX: "42",
        TOO_MUCH: "53 54",
    }
)


def classify_failure(failed: Assessment) -> ErrorClass:
    """The class of the guard's or the database's error; ``OTHER`` if nothing more is known."""
    if isinstance(failed.verdict, Violation):
        return BY_GUARD_CODE.get(failed.verdict.code, OTHER)
    return classify_state(failed.diagnostic.sqlstate) if failed.diagnostic else OTHER


def classify_state(sqlstate: str) -> ErrorClass:
    """The class of a database's error.

    >>> classify_state("42703").name, classify_state("22012").name, classify_state("XX000").name
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
    name = classify_failure(failed).name.replace("_", " ")
    return f"{name} (SQLSTATE {failed.diagnostic.sqlstate})" if failed.diagnostic else name


def _flatten(text: str) -> str:
    """The text in one line, so that nothing in it looks like a part of the prompt."""
    return " ".join(text.split())
