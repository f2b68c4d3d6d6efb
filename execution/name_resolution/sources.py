"""What stands in FROM and JOIN, and the name under which a query knows it.

Knows nothing of the clauses of a query: what is within a source or a condition goes back to the
walk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from execution.name_resolution.columns import ColumnFinder
from execution.name_resolution.nodes import (
    SUBQUERY_ARGS,
    TABLE_ARGS,
    check_args,
    check_join,
    is_function,
    merge_columns,
    name_function,
    name_outputs,
    name_values,
    rename_columns,
    take_new_names,
    write_names,
)
from execution.name_resolution.scopes import (
    Ctes,
    NameResolver,
    Resolution,
    Scope,
    Source,
    Unresolved,
    refuse_node,
)

if TYPE_CHECKING:
    from execution.name_resolution.walk import ScopeWalk


@dataclass(frozen=True, slots=True)
class SourceFinder:
    """Makes the sources of queries known, and notes in ``found`` what it came by."""

    walk: ScopeWalk
    resolver: NameResolver
    columns: ColumnFinder
    found: Resolution

    def add_joins(
        self, columns: tuple[str, ...], joins: Sequence[exp.Join], scope: Scope, ctes: Ctes
    ) -> tuple[str, ...]:
        """Makes the right sides known; all columns, ``columns`` those of the left, in order."""
        for join in joins:
            right = self.add_source(join.this, scope, ctes)
            shared = [self.columns.read_using(name) for name in join.args.get("using") or ()]
            columns = merge_columns(columns, right, join, shared, self.resolver.dialect)
        return columns

    def add_source(self, node: exp.Expr, scope: Scope, ctes: Ctes) -> tuple[str, ...]:
        """Makes what stands in FROM or JOIN known under its name; its columns in their order.

        Raises Unresolved.
        """
        # Those in the same parentheses, of which it is the first: they are not part of it.
        joins = node.args.pop("joins", None) or ()
        columns = self._add_first(node, scope, ctes)
        node.set("joins", joins or None)
        columns = self.add_joins(columns, joins, scope, ctes)
        for join in joins:
            self.resolve_join(join, scope, ctes)
        return columns

    def _add_first(self, node: exp.Expr, scope: Scope, ctes: Ctes) -> tuple[str, ...]:
        if isinstance(node, exp.Table):
            return self._add_table(node, scope, ctes)
        if isinstance(node, exp.Subquery):
            return self._add_subquery(node, scope, ctes)
        if isinstance(node, exp.Lateral):
            return self._add_lateral(node, scope, ctes)
        if isinstance(node, exp.Values):
            self.walk.resolve_within(node.expressions, Scope(scope.parent), ctes)
            source = Source(name_values(node, self.resolver.dialect), origin=node)
            return self._name(node, source, scope).columns
        if isinstance(node, exp.Unnest):
            self.walk.resolve_within(node.expressions, Scope(scope), ctes)
            return self._name(node, Source((), origin=node), scope).columns
        kind = type(node).__name__
        raise Unresolved("node_not_allowed", kind, f"{kind} is not allowed in FROM.")

    def _add_table(self, node: exp.Table, scope: Scope, ctes: Ctes) -> tuple[str, ...]:
        check_args(node, TABLE_ARGS)
        self.found.seen.add(id(node))
        if isinstance(node.this, exp.Func):
            # What it names is around it, as with a subquery.
            self.walk.resolve_within(node.this, Scope(scope), ctes)
            return self._name(node, Source((), origin=node.this), scope).columns
        if node.args.get("ordinality"):
            raise refuse_node(node, "ORDINALITY is for functions only.")
        return self._add_named(node, scope, ctes).columns

    def _add_named(self, node: exp.Table, scope: Scope, ctes: Ctes) -> Source:
        """A physical table, or a CTE, which takes precedence where no schema is named."""
        is_bare = isinstance(node.this, exp.Identifier) and not node.args.get("db")
        cte = ctes.get(self.resolver.fold(node.this)) if is_bare else None
        if cte is None:
            table = self.resolver.find_table(node)
            source = self._name(node, Source(self.resolver.list_columns(table), table), scope)
            self.found.tables.append((node, table, source))
            return source
        if not cte.new_name:
            raise Unresolved(
                "unexplained_table", node.name, f"{node.name} is used before it is written."
            )
        source = self._name(node, Source(cte.columns, origin=cte.query), scope)
        if node.args.get("alias") is None:
            node.set("alias", exp.TableAlias(this=node.this.copy()))
        elif not node.args["alias"].args.get("this"):
            node.args["alias"].set("this", node.this.copy())
        node.set("this", exp.to_identifier(cte.new_name))
        return source

    def _add_subquery(self, node: exp.Subquery, scope: Scope, ctes: Ctes) -> tuple[str, ...]:
        if isinstance(node.this, exp.Query | exp.Values) and not _is_join(node.this):
            # What stands in FROM sees nothing of its neighbours, but what is around all of them.
            columns = self.walk.resolve_query(node, scope.parent, ctes)
            return self._name(node, Source(columns, origin=node), scope).columns
        check_args(node, SUBQUERY_ARGS)
        if node.args.get("alias") is None:
            # Parentheses around a join: the names in it are known outside.
            return self.add_source(node.this, scope, ctes)
        inner = Scope(scope.parent)
        columns = self.add_source(node.this, inner, ctes)
        parts = tuple(inner.sources.values())
        return self._name(node, Source(columns, origin=parts), scope).columns

    def _add_lateral(self, node: exp.Lateral, scope: Scope, ctes: Ctes) -> tuple[str, ...]:
        if node.args.get("view") or node.args.get("outer") or node.args.get("cross_apply"):
            raise refuse_node(node, "Such a LATERAL is not allowed.")
        inner = node.this
        if isinstance(inner, exp.Subquery):
            source = Source(self.walk.resolve_query(inner, scope, ctes), origin=inner)
        elif isinstance(inner, exp.Unnest | exp.Func):
            self.walk.resolve_within(list(inner.iter_expressions()), Scope(scope), ctes)
            source = Source((), origin=inner)
        else:
            kind = type(inner).__name__
            raise Unresolved("node_not_allowed", kind, f"LATERAL {kind} is not allowed.")
        return self._name(node, source, scope).columns

    def _name(self, node: exp.Expr, source: Source, scope: Scope) -> Source:
        """Puts the source under its alias or name, which no other may bear."""
        name = self._find_name(node)
        if is_function(node):
            outputs = name_outputs(node, name, self.resolver.dialect)
            given = [self.resolver.fold(column) for column in take_new_names(node)]
            source = replace(source, columns=rename_columns(outputs, given, name))
            if self.resolver.dialect == "postgres":
                write_names(node, name, source.columns)
        elif isinstance(alias := node.args.get("alias"), exp.TableAlias) and alias.columns:
            # New names go by the order of the columns.
            self.columns.use_all(source)
            given = [self.resolver.fold(column) for column in alias.columns]
            source.columns = rename_columns(source.columns, given, name)
            source.renamed = True
        # Nobody can name what has no name, but its columns are known.
        name = name or f"\0{len(scope.sources)}"
        if name in scope.sources:
            raise Unresolved(
                "unexplained_table", name, f"Two tables are called {name}: give each an alias."
            )
        scope.sources[name] = source
        return source

    def _find_name(self, node: exp.Expr) -> str:
        """The folded name of what stands in FROM: its alias, or its own; empty without one."""
        alias = node.args.get("alias")
        identifier = alias.args.get("this") if isinstance(alias, exp.TableAlias) else None
        if identifier is None and isinstance(node, exp.Table | exp.Lateral):
            identifier = node.this
        elif identifier is None:
            identifier = node
        if isinstance(identifier, exp.Identifier):
            return self.resolver.fold(identifier)
        return name_function(identifier) if isinstance(identifier, exp.Func) else ""

    def resolve_join(self, join: exp.Join, scope: Scope, ctes: Ctes) -> None:
        """Resolves a join's condition, or the columns that it shares. Raises Unresolved."""
        check_join(join, self.resolver.dialect)
        if join.method == "NATURAL":
            for source in scope.sources.values():
                self.columns.use_all(source)
        self.walk.resolve_within(join.args.get("on"), scope, ctes)
        for column in join.args.get("using") or ():
            self.columns.resolve_using(column, scope)


def _is_join(node: exp.Expr) -> bool:
    """Whether what stands in parentheses is tables that are joined, not a query."""
    if isinstance(node, exp.Subquery):
        return bool(node.args.get("joins")) or _is_join(node.this)
    return isinstance(node, exp.Table)
