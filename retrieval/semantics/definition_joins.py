"""Finds the joins between the tables of a definition: declared foreign keys, or written ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from nl2sql.catalog import Catalog, ForeignKey
from nl2sql.sql.expression_form import list_conjuncts
from retrieval.joins.graph import JoinGraph
from retrieval.joins.paths import find_joins
from retrieval.semantics.column_names import ColumnFinder
from retrieval.semantics.sql_parts import Misfit, read_condition

# The keys of a definition that are wrong.
_PLACE = ("joins",)


class JoinFinder:
    """Finds joins in one catalog. Every method raises Misfit."""

    def __init__(self, catalog: Catalog, columns: ColumnFinder) -> None:
        self._catalog = catalog
        self._columns = columns
        self._graph: JoinGraph | None = None
        # Table → the number of its connected component.
        self._components: dict[str, int] = {}

    def find(self, tables: Sequence[str], written: Iterable[str]) -> tuple[ForeignKey, ...]:
        """The keys that connect the tables: the ``written`` ones, or else the declared ones."""
        keys = tuple(self._read(text) for text in written)
        if keys:
            _check_connected(tables, keys)
            return keys
        if len(tables) < 2:
            return ()
        if self._graph is None:
            whole = [table.qualified for table in self._catalog.tables]
            self._graph = JoinGraph(whole, self._catalog.foreign_keys)
            self._components = {
                table: number
                for number, component in enumerate(self._graph.components())
                for table in component
            }
        graph = self._graph
        if len({self._components[table] for table in tables}) > 1:
            raise Misfit(
                f"no foreign keys connect {' and '.join(tables)}; write how under joins, as "
                "[a.x = b.y]",
                _PLACE,
            )
        best, *others = find_joins(graph, tables, 3)
        if any(graph.cost(other) <= graph.cost(best) for other in others):
            raise Misfit(
                f"foreign keys connect {' and '.join(tables)} in several ways; write the one that "
                "is meant under joins, as [a.x = b.y]",
                _PLACE,
            )
        return tuple(graph.keys[at] for at in sorted(best))

    def _read(self, text: str) -> ForeignKey:
        """``a.x = b.y`` as a key from a to b."""
        sources, targets = [], []
        for pair in list_conjuncts(read_condition(text, self._catalog.dialect, _PLACE)):
            sides = [pair.this, pair.args.get("expression")] if isinstance(pair, exp.EQ) else []
            columns = [side for side in sides if isinstance(side, exp.Column)]
            if len(columns) != 2:
                raise Misfit(f"{text}: write a.x = b.y, more pairs with AND", _PLACE)
            sources.append(self._columns.find(columns[0], _PLACE))
            targets.append(self._columns.find(columns[1], _PLACE))
        near, far = ({table.qualified for table, _ in side} for side in (sources, targets))
        if len(near) != 1 or len(far) != 1 or near == far:
            raise Misfit(f"{text}: it must compare columns of two tables", _PLACE)
        return ForeignKey(
            "",
            near.pop(),
            tuple(column.name for _, column in sources),
            far.pop(),
            tuple(column.name for _, column in targets),
        )


def _check_connected(tables: Sequence[str], keys: Sequence[ForeignKey]) -> None:
    """Raises Misfit unless the keys form a tree with all tables."""
    reached = {tables[0]}
    for _ in keys:
        for key in keys:
            if reached & {key.table, key.target}:
                reached |= {key.table, key.target}
    every = {*tables, *(name for key in keys for name in (key.table, key.target))}
    if missing := sorted(every - reached):
        text = f"they do not connect {missing[0]} with {tables[0]}"
        raise Misfit(text, _PLACE)
    if len(every) != len(keys) + 1:
        raise Misfit("they join a table twice; write one join for each further table", _PLACE)
