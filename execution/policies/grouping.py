"""Keeps GROUP BY on a primary key valid where a derived table has replaced the table.

A PostgreSQL query that groups by a table's primary key may use the table's other columns outside
aggregates, since each group has one value of them. A derived table has no key, so the columns that
the query uses outside aggregates are added to the GROUP BY. The groups stay the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from execution.name_resolution.nodes import find_star, name_function
from execution.name_resolution.scopes import Group, NameResolver, Source

# No query has more outputs, and Python does not convert numbers with thousands of digits.
_POSITION = re.compile(r"[0-9]{1,9}")
# The clauses in which a column must be the same for the whole group.
_CLAUSES = ("expressions", "distinct", "having", "order", "windows")

# PostgreSQL's aggregates; sqlglot reads most of them as plain calls. The arguments of a missing one
# are grouped by without need, which fails only for types without equality.
_AGGREGATES = frozenset(
    "any_value array_agg avg bit_and bit_or bit_xor bool_and bool_or corr count covar_pop "
    "covar_samp every json_agg json_agg_strict json_object_agg jsonb_agg jsonb_agg_strict "
    "jsonb_object_agg max min range_agg range_intersect_agg regr_avgx regr_avgy regr_count "
    "regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy stddev stddev_pop stddev_samp "
    "string_agg sum var_pop var_samp variance xmlagg".split()
)


def complete_group(group: Group, resolver: NameResolver) -> None:
    """Adds the columns that depend on a primary key to the GROUP BY, in place."""
    clause = group.select.args["group"]
    finder = _Finder(group, resolver)
    always: list[exp.Expr] = []
    mentioned: list[exp.Expr] = []
    for item in clause.expressions:
        always += finder.list_common(item)
        mentioned += finder.list_items(item)
    keys = {
        name: key
        for name, source in group.sources.items()
        if (key := finder.read_key(source)) and finder.list_named(always, name) >= key
    }
    if not keys:
        return
    bare = list(finder.list_bare())
    for name in keys:
        used = set[str]()
        has_row = False
        for column in bare:
            is_row, names = finder.read_use(column, name)
            has_row |= is_row
            used |= names
        for column_name in sorted(used - finder.list_named(mentioned, name)):
            table = exp.to_identifier(name, quoted=True)
            this = exp.to_identifier(column_name, quoted=True)
            clause.append("expressions", exp.Column(this=this, table=table))
        if has_row:
            clause.append("expressions", exp.Column(this=exp.to_identifier(name, quoted=True)))


class _Finder:
    """Finds the items by which one SELECT groups, and the columns that it uses of its sources."""

    def __init__(self, group: Group, resolver: NameResolver) -> None:
        self._group = group
        self._resolver = resolver
        self._columns = {name for source in group.sources.values() for name in source.columns}

    def read_key(self, source: Source) -> frozenset[str]:
        """The primary key of a table, under the names of its alias; empty if it has none."""
        if source.table is None or len(set(source.columns)) < len(source.columns):
            return frozenset()
        names = dict(zip(self._resolver.list_columns(source.table), source.columns, strict=True))
        return frozenset(names[column] for column in source.table.primary_key)

    def list_items(self, node: exp.Expr) -> list[exp.Expr]:
        """The parts of an item of GROUP BY, with output names replaced by the outputs."""
        if isinstance(node, exp.Cube | exp.GroupingSets | exp.Paren | exp.Rollup | exp.Tuple):
            return [
                item
                for expression in node.iter_expressions()
                for item in self.list_items(expression)
            ]
        return [self._find_output(node)]

    def list_common(self, node: exp.Expr) -> list[exp.Expr]:
        """The items that every grouping set of the item contains."""
        if isinstance(node, exp.Cube | exp.Rollup):
            return []
        if isinstance(node, exp.GroupingSets):
            # Only of a single set; what several sets have in common is not computed.
            return self.list_common(node.expressions[0]) if len(node.expressions) == 1 else []
        if isinstance(node, exp.Paren | exp.Tuple):
            return [
                item
                for expression in node.iter_expressions()
                for item in self.list_common(expression)
            ]
        return [self._find_output(node)]

    def list_named(self, items: list[exp.Expr], source: str) -> set[str]:
        """The names of the columns among ``items`` that may belong to the source."""
        return {
            self._resolver.fold(item.this)
            for item in items
            if isinstance(item, exp.Column) and isinstance(item.this, exp.Identifier)
            if not (table := item.args.get("table")) or self._resolver.fold(table) == source
        }

    def list_bare(self) -> Iterator[exp.Column | exp.Star]:
        """The columns and stars outside aggregates, also in subqueries."""
        pending: list[tuple[object, bool]] = [
            (self._group.select.args.get(key), False) for key in _CLAUSES
        ]
        while pending:
            node, within = pending.pop()
            if isinstance(node, list):
                pending += [(item, within) for item in node]
            elif (isinstance(node, exp.Star) and not within) or isinstance(node, exp.Column):
                yield node
            elif isinstance(node, exp.Expr):
                # An aggregate in a subquery may belong to that subquery.
                within = within or isinstance(node, exp.Query)
                parts = node.iter_expressions() if within else _list_bare_parts(node)
                pending += [(part, within) for part in parts]

    def read_use(self, node: exp.Column | exp.Star, name: str) -> tuple[bool, set[str]]:
        """Whether the node is a whole row of the source ``name``, and which columns it uses."""
        source = self._group.sources[name]
        table = node.args.get("table")
        if find_star(node) is not None:
            if table is not None and self._resolver.fold(table) != name:
                return False, set()
            # In a subquery, the star may be of another source, and the wrapper may lack columns.
            return False, set(source.columns) if source.renamed else set(source.used)
        origin = self._group.origins.get(id(node))
        if all(origin is not source for source in self._group.sources.values()):
            return False, set()
        column = self._resolver.fold(node.this)
        if table is not None:
            return False, {column} if origin is source else set()
        if column in self._columns:
            # After USING the column belongs to several sources.
            return False, {column} & set(source.columns)
        return origin is source, set()

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


def _list_bare_parts(node: exp.Expr) -> Iterator[exp.Expr]:
    """The children of a node that must be equal within a group: no arguments of aggregates."""
    if isinstance(node, exp.Window):
        # The arguments of a window function are, whatever its name.
        function = node.this
        if isinstance(function, exp.Filter):
            yield function.expression
            function = function.this
        # The star of count(*) is not a column.
        yield from (
            expression
            for expression in function.iter_expressions()
            if not isinstance(expression, exp.Star)
        )
        yield from (
            expression for expression in node.iter_expressions() if expression is not node.this
        )
    elif isinstance(node, exp.WithinGroup):
        yield from node.this.iter_expressions()
    elif isinstance(node, exp.Filter):
        yield node.this
    elif not isinstance(node, exp.AggFunc) and name_function(node) not in _AGGREGATES:
        yield from node.iter_expressions()
