"""Resolves names to numbered tables inside one SELECT, for the normal form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from nl2sql.sql.scopes import find_name


class Unresolved(Exception):
    """The query's names cannot be resolved, so its form is its own text."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The names that are visible at one place of a query.

    ``tables`` maps the names or aliases of the tables of this SELECT and the enclosing ones to
    numbers, ``ctes`` the names of CTEs. ``only`` is the number of the only table, if there is just
    one and no enclosing SELECT; ``outputs`` are the aliases of the SELECT's columns.
    """

    tables: Mapping[str, str] = field(default_factory=dict)
    ctes: Mapping[str, str] = field(default_factory=dict)
    only: str = ""
    outputs: frozenset[str] = frozenset()


def fold(identifier: exp.Identifier, dialect: str) -> str:
    """A name as the database compares it.

    >>> fold(exp.to_identifier("Ann"), "postgres"), fold(exp.to_identifier("Ann", True), "postgres")
    ('ann', 'Ann')
    """
    name = str(identifier.this)
    if dialect in ("sqlite", "duckdb") or not identifier.args.get("quoted"):
        return name.lower()
    return name


def list_sources(select: exp.Select) -> Iterator[exp.Expr]:
    """The tables, subqueries and CTEs that a SELECT reads, in the order of its text.

    Raises Unresolved for any other source: a function, a lateral join, a nested one.
    """
    first = select.args.get("from_")
    parts = [first, *(select.args.get("joins") or ())] if first else []
    for part in parts:
        source = part.this
        plain = isinstance(source, exp.Table) and isinstance(source.this, exp.Identifier)
        nested = isinstance(source, exp.Subquery) and isinstance(source.this, exp.Query)
        if not (plain or nested) or source.args.get("joins"):
            raise Unresolved
        yield source
    if select.args.get("laterals"):
        raise Unresolved


def name_source(source: exp.Expr, dialect: str) -> str:
    """The name by which columns refer to a source; empty if it has none."""
    identifier = find_name(source)
    return fold(identifier, dialect) if identifier is not None else ""
