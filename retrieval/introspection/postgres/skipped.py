"""Lists what the catalog leaves out of a PostgreSQL schema, with reasons and GRANT statements.

Reads the rows of ``catalog.py``'s queries. If a privilege is missing, the entry has the statement
that would grant it; the administrator decides whether to run it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from nl2sql.catalog import Skipped
from nl2sql.sql.names import quote_name

_Row = Mapping[str, Any]
# Schema and name.
_Path = tuple[str, str]


def list_skipped_schemas(
    rows: Sequence[_Row], wanted: tuple[str, ...], reader: str
) -> list[Skipped]:
    """Schemas with tables that the reader may not use, and ``wanted`` schemas that do not exist.

    ``rows`` have ``name``, ``is_open``, ``is_used`` and ``is_granted``.
    """
    missing = [name for name in wanted if name not in {row["name"] for row in rows}]
    return [
        *(Skipped("schema", name, "there is no schema of that name") for name in missing),
        *(
            Skipped(
                "schema", row["name"], "no USAGE for the reader", "", _grant_schema(row, reader)
            )
            for row in rows
            if row["is_used"] and not row["is_open"]
        ),
    ]


def list_skipped_tables(
    rows: Sequence[_Row], kinds: Mapping[str, str], reader: str
) -> dict[_Path, Skipped]:
    """By path, the tables that cannot be read.

    ``rows`` have ``schema``, ``name``, ``kind``, ``columns`` (those that the reader may read, or
    None) and ``hidden`` (the other columns, or None).
    """
    found: dict[_Path, Skipped] = {}
    for schema, group in groupby(rows, itemgetter("schema")):
        tables = list(group)
        is_closed = not any(row["columns"] for row in tables)
        for row in tables:
            if row["columns"]:
                continue
            reason, grant = "it has no columns", ""
            if row["hidden"]:
                reason = "no SELECT for the reader"
                grant = _grant("SELECT", _name_all(schema) if is_closed else _quote(row), reader)
            name = f"{schema}.{row['name']}"
            found[schema, row["name"]] = Skipped(kinds[row["kind"]], name, reason, remedy=grant)
    return found


def list_skipped_columns(rows: Iterable[_Row], reader: str) -> list[Skipped]:
    """The columns that the reader may not read, of tables that it may read."""
    return [
        Skipped(
            "column",
            f"{row['schema']}.{row['name']}.{column}",
            "no SELECT for the reader",
            remedy=_grant(f"SELECT ({quote_name(column)})", _quote(row), reader),
        )
        for row in rows
        for column in row["hidden"] or ()
    ]


def _grant_schema(row: _Row, reader: str) -> str:
    usage = _grant("USAGE", f"SCHEMA {quote_name(row['name'])}", reader)
    tables = _grant("SELECT", _name_all(row["name"]), reader)
    return usage if row["is_granted"] else f"{usage} {tables}"


def _grant(privilege: str, what: str, reader: str) -> str:
    return f"GRANT {privilege} ON {what} TO {quote_name(reader)};"


def _name_all(schema: str) -> str:
    return f"ALL TABLES IN SCHEMA {quote_name(schema)}"


def _quote(row: _Row) -> str:
    return f"{quote_name(row['schema'])}.{quote_name(row['name'])}"
