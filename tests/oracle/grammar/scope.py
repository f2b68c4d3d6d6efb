"""What a query sees around an expression: sources under their names, and those of outer queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

Columns = tuple[tuple[str, str], ...]
"""(name as SQL, family) of each column; the name is empty where the query gives it none."""


@dataclass(frozen=True, slots=True)
class Source:
    """One thing in FROM.

    ``name`` is how references qualify it, empty where nothing does. ``lost`` are names that its
    columns had until a list of names replaced them, or that only its function bears.
    """

    name: str
    columns: Columns
    lost: tuple[str, ...] = ()
    keys: tuple[tuple[str, str, str], ...] = ()
    """Foreign keys that join it: own column, the other table's qualified name, its column."""
    table: str = ""

    def rename(self, name: str, names: Sequence[str]) -> Source:
        """The source under another name, its first columns under ``names``.

        >>> Source("t", (("a", "int"), ("b", "int"))).rename("u", ["x"])
        Source(name='u', columns=(('x', 'int'), ('b', 'int')), lost=('a',), keys=(), table='')
        """
        columns = tuple(
            (names[at] if at < len(names) else old, family)
            for at, (old, family) in enumerate(self.columns)
        )
        replaced = tuple(old for old, _ in self.columns[: len(names)] if old and old not in names)
        keys = () if names else self.keys
        return Source(name, columns, (*self.lost, *replaced), keys, "" if names else self.table)


@dataclass(slots=True)
class Scope:
    """One query's sources. ``grouped`` has the expressions that a grouped query may name.

    ``merged`` are columns that USING made one of two; a bare name of another source's is ambiguous.
    ``windows`` says that window functions may stand here, ``named`` the window that is defined.
    """

    parent: Scope | None = None
    sources: list[Source] = field(default_factory=list)
    grouped: dict[str, list[str]] | None = None
    merged: list[tuple[str, str]] = field(default_factory=list)
    windows: bool = False
    named: str = ""

    def list_columns(self, family: str) -> list[str]:
        """The columns of a family, as this query's expressions write them."""
        if self.grouped is not None:
            return list(self.grouped.get(family, ()))
        found = [name for name, kind in self.merged if kind == family]
        counts = Counter(name for source in self.sources for name, _ in source.columns)
        for source in self.sources:
            for name, kind in source.columns:
                if kind != family or not name:
                    continue
                if source.name:
                    found.append(f"{source.name}.{name}")
                if counts[name] == 1 and name not in self.names:
                    found.append(name)
        return found

    @property
    def names(self) -> set[str]:
        """The names of the sources."""
        return {source.name for source in self.sources if source.name}

    def open(self) -> Scope:
        """The same without grouping or windows: what an aggregate's arguments see."""
        return Scope(self.parent, self.sources, None, self.merged)
