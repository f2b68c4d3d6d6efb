"""The walk over a query, from the outside in; what stands in FROM is in ``sources.py``.

Nothing is left that no rule has explained: a table or a column in a place that this module does not
know is refused. Each CTE gets a name that no table bears, so that one which the database should see
otherwise than we do is an error and never a table.

Knows nothing of policies: the catalog that it is given holds what may be seen. Does not cover
types.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from execution.guard_dialects import list_headings, quote_fragment
from execution.name_resolution.columns import ColumnFinder
from execution.name_resolution.nodes import (
    SELECT_ARGS,
    SET_ARGS,
    SUBQUERY_ARGS,
    check_args,
    check_outputs,
    check_star,
    find_star,
    name_values,
    rename_columns,
)
from execution.name_resolution.scopes import (
    MADE_UP,
    Cte,
    Ctes,
    NameResolver,
    Resolution,
    Scope,
    Unresolved,
    refuse_node,
)
from execution.name_resolution.sources import SourceFinder
from nl2sql.sql.names import fold_name

# What stands around the items of DISTINCT ON, GROUP BY and ORDER BY.
_AROUND_ITEMS = (exp.Cube, exp.GroupingSets, exp.Ordered, exp.Paren, exp.Rollup)


def resolve_names(tree: exp.Expr, nodes: Sequence[exp.Expr], resolver: NameResolver) -> Resolution:
    """Checks all names of ``tree`` and renames its CTEs, in place.

    ``nodes`` are all nodes of the tree. Raises Unresolved.
    """
    walk = ScopeWalk(resolver)
    walk.resolve_query(tree, None, {})
    walk.check_nothing_is_left(nodes)
    return walk.found


class ScopeWalk:
    """One walk over one tree."""

    def __init__(self, resolver: NameResolver) -> None:
        self._resolver = resolver
        self._ctes = 0
        self._scopes: dict[int, Scope] = {}
        self.found = Resolution()
        self._columns = ColumnFinder(resolver, self.found)
        self._sources = SourceFinder(self, resolver, self._columns, self.found)

    def check_nothing_is_left(self, nodes: Sequence[exp.Expr]) -> None:
        """Raises Unresolved for a table or column at which the walk did not come by."""
        for node in nodes:
            if isinstance(node, exp.Alias) and find_star(node.this) is not None:
                # PostgreSQL takes no notice of it, so that nothing is called so.
                raise refuse_node(node, "A star takes no name.")
            if isinstance(node, exp.Table | exp.Column) and id(node) not in self.found.seen:
                kind = "table" if isinstance(node, exp.Table) else "column"
                raise Unresolved(
                    f"unexplained_{kind}",
                    quote_fragment(node),
                    f"The {kind} {quote_fragment(node)} cannot be traced.",
                )

    # -- queries -------------------------------------------------------------------------------

    def resolve_query(self, node: exp.Expr, parent: Scope | None, ctes: Ctes) -> tuple[str, ...]:
        """The folded names of the outputs of a SELECT, a set operation or one in parentheses."""
        if isinstance(node, exp.Select):
            check_args(node, SELECT_ARGS)
            return self._resolve_select(node, parent, self._resolve_with(node, parent, ctes))
        if isinstance(node, exp.SetOperation):
            check_args(node, SET_ARGS)
            within = self._resolve_with(node, parent, ctes)
            columns = self.resolve_query(node.this, parent, within)
            others = self.resolve_query(node.expression, parent, within)
            if node.args.get("by_name"):
                known = frozenset(columns)
                columns += tuple(name for name in others if name not in known)
                check_outputs(columns)
        elif isinstance(node, exp.Subquery):
            check_args(node, SUBQUERY_ARGS)
            within = self._resolve_with(node, parent, ctes)
            columns = self.resolve_query(node.this, parent, within)
        elif isinstance(node, exp.Values):
            self.resolve_within(node, Scope(parent), ctes)
            return name_values(node, self._resolver.dialect)
        else:
            kind = type(node).__name__
            raise Unresolved("node_not_allowed", kind, f"{kind} is no query.")
        scope = Scope(
            parent, outputs=frozenset(columns), headings=self._list_headings(node), query=node
        )
        if self._resolver.dialect == "postgres":
            # What stands behind a SELECT in parentheses is the SELECT's own.
            inner = node
            while isinstance(inner, exp.Subquery):
                inner = inner.this
            scope = self._scopes.get(id(inner), scope)
        self._resolve_order(node.args.get("order"), scope, within)
        for key in ("limit", "offset"):
            self.resolve_within(node.args.get(key), scope, within)
        return columns

    def _resolve_with(self, node: exp.Expr, parent: Scope | None, ctes: Ctes) -> Ctes:
        clause = node.args.get("with_")
        if clause is None:
            return ctes
        within = dict(ctes)
        # To SQLite the word says nothing.
        recursive = self._resolver.dialect == "sqlite" or bool(clause.args.get("recursive"))
        if recursive:
            # Each CTE may name those behind it, which are unknown as yet.
            within |= {
                self._resolver.fold(cte.args["alias"].this): Cte((), "")
                for cte in clause.expressions
            }
        for cte in clause.expressions:
            self._resolve_cte(cte, recursive, parent, within)
        return within

    def _resolve_cte(
        self, cte: exp.CTE, recursive: bool, parent: Scope | None, within: Ctes
    ) -> None:
        alias = cte.args["alias"]
        name = self._resolver.fold(alias.this)
        named = tuple(self._resolver.fold(column) for column in alias.columns)
        self._ctes += 1
        new_name = f"{MADE_UP}cte{self._ctes}"
        if recursive:
            outputs: tuple[str, ...] = ()
            if isinstance(cte.this, exp.SetOperation):
                # Its first part cannot name it, so its outputs are known before the second.
                outputs = self._columns.list_first_outputs(cte.this)
            within[name] = Cte(named + outputs[len(named) :], new_name, cte.this)
        columns = self.resolve_query(cte.this, parent, within)
        within[name] = Cte(rename_columns(columns, named, name), new_name, cte.this)
        alias.set("this", exp.to_identifier(new_name))

    def _resolve_select(
        self, node: exp.Select, parent: Scope | None, ctes: Ctes
    ) -> tuple[str, ...]:
        headings = self._list_headings(node)
        scope = self._scopes[id(node)] = Scope(parent, headings=headings, query=node)
        joins = node.args.get("joins") or ()
        if (clause := node.args.get("from_")) is not None:
            first = self._sources.add_source(clause.this, scope, ctes)
            scope.columns = self._sources.add_joins(first, joins, scope, ctes)
        for lateral in node.args.get("laterals") or ():
            scope.columns += self._sources.add_source(lateral, scope, ctes)
        self.found.selects[id(node)] = scope.sources
        columns = self._columns.list_columns(node.expressions, scope)
        outputs = frozenset(
            name
            for output in node.expressions
            if not isinstance(output, exp.Column | exp.Star)
            if (name := self._columns.name_output(output))
        )
        everywhere = self._resolver.aliases_everywhere
        for join in joins:
            self._sources.resolve_join(join, scope, ctes)
        if self._resolver.dialect == "duckdb":
            # An output can name those before it.
            scope.outputs = frozenset(
                self._resolver.fold(output.args["alias"])
                for output in node.expressions
                if isinstance(output, exp.Alias)
                and isinstance(output.args["alias"], exp.Identifier)
            )
        for output in node.expressions:
            self.resolve_within(output, scope, ctes, with_outputs=everywhere)
        scope.outputs = outputs
        self.resolve_within(node.args.get("where"), scope, ctes, with_outputs=everywhere)
        for key in ("having", "qualify", "limit", "offset"):
            self.resolve_within(node.args.get(key), scope, ctes)
        for window in node.args.get("windows") or ():
            self.resolve_within(window, scope, ctes, with_outputs=everywhere)
        for key in ("distinct", "group", "order"):
            self._resolve_order(node.args.get(key), scope, ctes)
        if node.args.get("group") is not None:
            self.found.groups.append(node)
        return columns

    def _list_headings(self, query: exp.Expr) -> frozenset[str]:
        return frozenset(fold_name(name, self._resolver.dialect) for name in list_headings(query))

    def _resolve_order(self, node: exp.Expr | None, scope: Scope, ctes: Ctes) -> None:
        """Resolves DISTINCT ON, GROUP BY or ORDER BY, which may name outputs.

        To PostgreSQL a name is an output's only where it is all that an item consists of.
        """
        if node is None:
            return
        within_items = self._resolver.dialect != "postgres"
        # Parentheses around several items, but in ORDER BY, where that is a row.
        around = _AROUND_ITEMS if isinstance(node, exp.Order) else (*_AROUND_ITEMS, exp.Tuple)
        pending = list(node.iter_expressions())
        while pending:
            item = pending.pop(0)
            if isinstance(item, around) and not within_items:
                pending[:0] = item.iter_expressions()
                continue
            is_name = isinstance(item, exp.Column)
            self.resolve_within(item, scope, ctes, with_outputs=within_items or is_name)

    def resolve_within(
        self, node: object, scope: Scope, ctes: Ctes, *, with_outputs: bool = False
    ) -> None:
        """Resolves every column and query within an expression, or within each of a list."""
        if isinstance(node, list):
            for part in node:
                self.resolve_within(part, scope, ctes)
        elif isinstance(node, exp.Column):
            self._columns.resolve_column(node, scope, with_outputs)
        elif isinstance(node, exp.Query):
            self.resolve_query(node, scope, ctes)
        elif isinstance(node, exp.Star):
            check_star(node)
        elif isinstance(node, exp.Expr):
            for child in node.iter_expressions():
                self.resolve_within(child, scope, ctes, with_outputs=with_outputs)
