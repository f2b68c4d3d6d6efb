"""Keeps GROUP BY on a primary key valid where a derived table has replaced the table.

A PostgreSQL query that groups by a table's primary key may use the table's other columns outside
aggregates, since each group has one value of them. A derived table has no key, so the columns that
the query uses are added to the GROUP BY, wherever it uses them. The groups stay the same.
"""

from __future__ import annotations

import re

from sqlglot import exp

from execution.name_resolution.scopes import Group, NameResolver, Source
from nl2sql.catalog import Table

# No query has more outputs, and Python does not convert numbers with thousands of digits.
_POSITION = re.compile(r"[0-9]{1,9}")
_SETS = (exp.Cube, exp.GroupingSets, exp.Rollup)
_AROUND_ITEMS = (*_SETS, exp.Paren, exp.Tuple)
# Types without equality, by which nothing can be grouped.
_UNEQUAL = re.compile(r"(json|xml|point|line|lseg|box|path|polygon|circle)\b", re.IGNORECASE)


def complete_group(group: Group, resolver: NameResolver) -> None:
    """Adds the columns that depend on a primary key to the GROUP BY, in place."""
    clause = group.select.args["group"]
    finder = _Finder(group, resolver)
    always = [item for node in clause.expressions for item in finder.list_common(node)]
    mentioned = [item for node in clause.expressions for item in finder.list_items(node)]
    added: list[exp.Expr] = []
    for name, source in group.sources.items():
        key = finder.read_key(source)
        if not key or not finder.list_named(always, name) >= key:
            continue
        columns = finder.list_comparable(source)
        used = columns.intersection(source.columns if source.renamed else source.used)
        for column in sorted(used - finder.list_named(mentioned, name)):
            table = exp.to_identifier(name, quoted=True)
            added.append(exp.Column(this=exp.to_identifier(column, quoted=True), table=table))
        if finder.uses_row(source) and len(columns) == len(source.columns):
            added.append(exp.Column(this=exp.to_identifier(name, quoted=True)))
    for item in added:
        clause.append("expressions", item)


class _Finder:
    """Finds the items by which one SELECT groups, and the columns of its sources."""

    def __init__(self, group: Group, resolver: NameResolver) -> None:
        self._group = group
        self._resolver = resolver
        self._columns = {name for source in group.sources.values() for name in source.columns}

    def read_key(self, source: Source) -> frozenset[str]:
        """The primary key of a table, under the names of its alias; empty if it has none."""
        if source.table is None or len(set(source.columns)) < len(source.columns):
            return frozenset()
        names = self._pair_names(source, source.table)
        return frozenset(names[column] for column in source.table.primary_key)

    def list_comparable(self, source: Source) -> set[str]:
        """The columns of a table that can be grouped by, under the names of its alias."""
        assert source.table is not None
        names = self._pair_names(source, source.table)
        return {
            names[folded]
            for folded, column in zip(names, source.table.columns, strict=True)
            if not _UNEQUAL.match(column.type)
        }

    def _pair_names(self, source: Source, table: Table) -> dict[str, str]:
        return dict(zip(self._resolver.list_columns(table), source.columns, strict=True))

    def uses_row(self, source: Source) -> bool:
        """Whether the query uses the name of the source as a value, its whole row."""
        return any(
            self._group.origins.get(id(column)) is source
            and isinstance(column.this, exp.Identifier)
            and column.args.get("table") is None
            and self._resolver.fold(column.this) not in self._columns
            for column in self._group.select.find_all(exp.Column)
        )

    def list_items(self, node: exp.Expr) -> list[exp.Expr]:
        """The parts of an item of GROUP BY, with output names replaced by the outputs."""
        if not isinstance(node, _AROUND_ITEMS):
            return [self._find_output(node)]
        return [item for part in node.iter_expressions() for item in self.list_items(part)]

    def list_common(self, node: exp.Expr) -> list[exp.Expr]:
        """The items that every grouping set of the item contains."""
        if isinstance(node, exp.GroupingSets) and len(node.expressions) == 1:
            return self.list_common(node.expressions[0])
        if isinstance(node, _SETS):
            # What several sets have in common is not computed.
            return []
        if not isinstance(node, exp.Paren | exp.Tuple):
            return [self._find_output(node)]
        return [item for part in node.iter_expressions() for item in self.list_common(part)]

    def list_named(self, items: list[exp.Expr], source: str) -> set[str]:
        """The names of the columns among ``items`` that may belong to the source."""
        return {
            self._resolver.fold(item.this)
            for item in items
            if isinstance(item, exp.Column) and isinstance(item.this, exp.Identifier)
            if not (table := item.args.get("table")) or self._resolver.fold(table) == source
        }

    def _find_output(self, node: exp.Expr) -> exp.Expr:
        """The output that a position (GROUP BY 2) or an output's name refers to."""
        outputs = self._group.select.expressions
        is_number = isinstance(node, exp.Literal) and not node.is_string
        if is_number and _POSITION.fullmatch(node.name):
            at = int(node.name) - 1
            if 0 <= at < len(outputs):
                output: exp.Expr = outputs[at]
                return output.unalias()
        if isinstance(node, exp.Column) and not node.args.get("table"):
            name = self._resolver.fold(node.this)
            for output in outputs if name not in self._columns else ():
                if (
                    isinstance(output, exp.Alias)
                    and self._resolver.fold(output.args["alias"]) == name
                ):
                    return output.unalias()
        return node
