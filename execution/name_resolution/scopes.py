"""What surrounds a name in a query, and what was found in the end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sqlglot import exp

from nl2sql.catalog import Table
from nl2sql.types import Violation


class Unresolved(Exception):
    """Carries the violation out of the walk."""

    def __init__(self, code: str, fragment: str, message: str) -> None:
        super().__init__(message)
        self.violation = Violation(code, fragment[:80], message)


@dataclass(eq=False, slots=True)
class Source:
    """What a name in FROM stands for.

    ``columns`` are the folded names that its columns bear, in their order; a name that nobody can
    write is empty. ``renamed`` says that an alias has replaced some of them. ``table`` is set for
    a physical table; ``used`` holds the folded names of its columns that the query uses, all of
    them where it is about their number or order. ``origin`` is the query or function that makes
    the rows of any other, or the sources joined under one name.
    """

    columns: tuple[str, ...]
    table: Table | None = None
    used: set[str] = field(default_factory=set)
    renamed: bool = False
    origin: exp.Expr | tuple[Source, ...] | None = None


@dataclass(eq=False, slots=True)
class Level:
    """One query around a name: its sources, and the outputs that some clauses may name.

    ``columns`` are those of all sources as a star lists them.
    """

    parent: Level | None
    sources: dict[str, Source] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    outputs: frozenset[str] = frozenset()
    query: exp.Expr | None = None

    def list_outward(self) -> Iterator[Level]:
        """This level and those around it, the nearest first."""
        level: Level | None = self
        while level is not None:
            yield level
            level = level.parent


@dataclass(eq=False, slots=True)
class Cte:
    """A CTE under its new name; an empty one says that it may not be named yet."""

    columns: tuple[str, ...]
    new_name: str
    query: exp.Expr | None = None


Ctes = dict[str, Cte]


@dataclass(eq=False, slots=True)
class Group:
    """A SELECT with a GROUP BY, its sources by their folded names, and all columns' origins."""

    select: exp.Select
    sources: dict[str, Source]
    origins: dict[int, Source]


@dataclass(eq=False, slots=True)
class Resolution:
    """What a query reads.

    ``tables`` are the nodes that stand for physical tables, with table and source of each;
    ``columns`` the names of their columns that are used, as the catalog spells them. ``origins``
    tells for a column node, by its ``id``, the source it belongs to; ``selects`` for a SELECT the
    sources in its FROM.
    """

    tables: list[tuple[exp.Table, Table, Source]] = field(default_factory=list)
    columns: set[str] = field(default_factory=set)
    groups: list[Group] = field(default_factory=list)
    origins: dict[int, Source] = field(default_factory=dict)
    selects: dict[int, tuple[Source, ...]] = field(default_factory=dict)
