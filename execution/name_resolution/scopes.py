"""The scopes in which a name is resolved, and the result of the resolution."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sqlglot import exp

from nl2sql.catalog import Table
from nl2sql.types import Violation


class Unresolved(Exception):
    """Ends the walk with a violation."""

    def __init__(self, code: str, fragment: str, message: str) -> None:
        super().__init__(message)
        self.violation = Violation(code, fragment[:80], message)


@dataclass(eq=False, slots=True)
class Source:
    """What a name in FROM refers to.

    ``columns`` are the folded names of its columns, in their order; the name of a column that no
    query can write is empty. ``renamed`` says that an alias has replaced some of them. ``table`` is
    set for a physical table; ``used`` are the folded names of its columns that the query uses, all
    of them if their number or order matters. ``origin`` is, for other sources, the query or
    function that produces the rows, or the sources joined under one name.
    """

    columns: tuple[str, ...]
    table: Table | None = None
    used: set[str] = field(default_factory=set)
    renamed: bool = False
    origin: exp.Expr | tuple[Source, ...] | None = None


@dataclass(eq=False, slots=True)
class Level:
    """One query around a name: its sources, and the outputs that some clauses may name.

    ``columns`` are the columns of all sources as a star lists them; ``headings`` the folded names
    that outputs got from ``headings.py``, which the query itself cannot name.
    """

    parent: Level | None
    sources: dict[str, Source] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    outputs: frozenset[str] = frozenset()
    headings: frozenset[str] = frozenset()
    query: exp.Expr | None = None

    def list_outward(self) -> Iterator[Level]:
        """This level and those around it, the innermost first."""
        level: Level | None = self
        while level is not None:
            yield level
            level = level.parent


@dataclass(eq=False, slots=True)
class Cte:
    """A CTE with its new name, which is empty as long as the CTE may not be used."""

    columns: tuple[str, ...]
    new_name: str
    query: exp.Expr | None = None


Ctes = dict[str, Cte]


@dataclass(eq=False, slots=True)
class Group:
    """A SELECT with a GROUP BY, its sources by folded name, and the sources of all column nodes."""

    select: exp.Select
    sources: dict[str, Source]
    origins: dict[int, Source]


@dataclass(eq=False, slots=True)
class Resolution:
    """What a query reads.

    ``tables`` are the nodes of physical tables, each with its table and source; ``columns`` the
    names of their columns that are used, as the catalog spells them. ``origins`` has the source of
    each column node, by the node's ``id``; ``selects`` the sources in the FROM of each SELECT.
    """

    tables: list[tuple[exp.Table, Table, Source]] = field(default_factory=list)
    columns: set[str] = field(default_factory=set)
    groups: list[Group] = field(default_factory=list)
    origins: dict[int, Source] = field(default_factory=dict)
    selects: dict[int, tuple[Source, ...]] = field(default_factory=dict)
