"""The walk over a query, from the outside in.

Nothing is left that no rule has explained: a table or a column in a place that this module does not
know is refused. Each CTE gets a name that no table bears, so that one which the database should see
otherwise than we do is an error and never a table.

Knows nothing of policies: the catalog that it is given holds what may be seen. Does not cover
types.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from execution.fragments import quote_fragment
from execution.name_resolution.columns import ColumnFinder
from execution.name_resolution.functions import (
    is_function,
    name_function,
    name_outputs,
    take_new_names,
    write_names,
)
from execution.name_resolution.nodes import (
    SELECT_ARGS,
    SET_ARGS,
    SUBQUERY_ARGS,
    TABLE_ARGS,
    check_args,
    check_join,
    check_outputs,
    check_star,
    merge_columns,
    name_values,
    rename_columns,
)
from execution.name_resolution.resolver import NameResolver
from execution.name_resolution.scopes import (
    Cte,
    Ctes,
    Group,
    Level,
    Resolution,
    Source,
    Unresolved,
)
from execution.name_resolution.stars import find_star, list_replacements
from execution.sqlite.names import is_in_double_quotes

# What stands around the items of DISTINCT ON, GROUP BY and ORDER BY.
_AROUND_ITEMS = (exp.Cube, exp.GroupingSets, exp.Ordered, exp.Paren, exp.Rollup)


def resolve_names(tree: exp.Expr, nodes: Sequence[exp.Expr], resolver: NameResolver) -> Resolution:
    """Checks all names of ``tree`` and renames its CTEs, in place.

    ``nodes`` are all nodes of the tree. Raises Unresolved.
    """
    has_text_names = resolver.dialect == "sqlite" and any(map(_may_name_by_text, nodes))
    walk = _Walk(resolver, has_text_names=has_text_names)
    walk.resolve_query(tree, None, {})
    walk.check_nothing_is_left(nodes)
    return walk.found


def _may_name_by_text(node: exp.Expr) -> bool:
    """Whether SQLite may hold the node, or what it joins, against the text of an output."""
    if isinstance(node, exp.Join):
        return node.method == "NATURAL"
    return isinstance(node, exp.Identifier) and is_in_double_quotes(node)


class _Walk:
    """One walk over one tree."""

    def __init__(self, resolver: NameResolver, *, has_text_names: bool) -> None:
        self._resolver = resolver
        self._seen: set[int] = set()
        self._cte_names: dict[int, set[str]] = {}
        self._ctes = 0
        self._levels: dict[int, Level] = {}
        self.found = Resolution()
        self._columns = ColumnFinder(
            resolver, self.found, self._seen, has_text_names=has_text_names
        )

    def check_nothing_is_left(self, nodes: Sequence[exp.Expr]) -> None:
        """Raises Unresolved for a table or column at which the walk did not come by."""
        for node in nodes:
            if isinstance(node, exp.Alias) and find_star(node.this) is not None:
                # PostgreSQL takes no notice of it, so that nothing is called so.
                raise Unresolved("node_not_allowed", quote_fragment(node), "A star takes no name.")
            if isinstance(node, exp.Table | exp.Column) and id(node) not in self._seen:
                kind = "table" if isinstance(node, exp.Table) else "column"
                raise Unresolved(
                    f"unexplained_{kind}",
                    quote_fragment(node),
                    f"The {kind} {quote_fragment(node)} cannot be traced.",
                )

    # -- queries -------------------------------------------------------------------------------

    def resolve_query(self, node: exp.Expr, parent: Level | None, ctes: Ctes) -> tuple[str, ...]:
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
            self._resolve_within(node, Level(parent), ctes)
            return name_values(node, self._resolver.dialect)
        else:
            kind = type(node).__name__
            raise Unresolved("node_not_allowed", kind, f"{kind} is no query.")
        level = Level(parent, outputs=frozenset(columns), query=node)
        if self._resolver.dialect == "postgres":
            # What stands behind a SELECT in parentheses is the SELECT's own.
            inner = node
            while isinstance(inner, exp.Subquery):
                inner = inner.this
            level = self._levels.get(id(inner), level)
        self._resolve_order(node.args.get("order"), level, within)
        for key in ("limit", "offset"):
            self._resolve_within(node.args.get(key), level, within)
        return columns

    def _resolve_with(self, node: exp.Expr, parent: Level | None, ctes: Ctes) -> Ctes:
        clause = node.args.get("with_")
        if clause is None:
            return ctes
        within = dict(ctes)
        self._cte_names[id(clause)] = {
            self._resolver.fold(cte.args["alias"].this) for cte in clause.expressions
        }
        for cte in clause.expressions:
            self._resolve_cte(cte, bool(clause.args.get("recursive")), clause, parent, within)
        return within

    def _resolve_cte(
        self, cte: exp.CTE, recursive: bool, clause: exp.With, parent: Level | None, within: Ctes
    ) -> None:
        alias = cte.args["alias"]
        name = self._resolver.fold(alias.this)
        named = tuple(self._resolver.fold(column) for column in alias.columns)
        self._ctes += 1
        new_name = f"{self._resolver.cte_prefix}{self._ctes}"
        visible = within
        if recursive:
            visible = {**within, **self._list_later(clause, cte)}
            outputs: tuple[str, ...] = ()
            if isinstance(cte.this, exp.SetOperation):
                # Its first part cannot name it, so its outputs are known before the second.
                outputs = self._columns.list_first_outputs(cte.this)
            visible[name] = Cte(named + outputs[len(named) :], new_name, cte.this)
        columns = self.resolve_query(cte.this, parent, visible)
        within[name] = Cte(rename_columns(columns, named, name), new_name, cte.this)
        alias.set("this", exp.to_identifier(new_name))

    def _list_later(self, clause: exp.With, cte: exp.CTE) -> Ctes:
        """The CTEs behind this one, which WITH RECURSIVE lets it name; unknown as yet."""
        ctes = clause.expressions
        at = next(index for index, each in enumerate(ctes) if each is cte)
        return {
            self._resolver.fold(later.args["alias"].this): Cte((), "") for later in ctes[at + 1 :]
        }

    def _resolve_select(
        self, node: exp.Select, parent: Level | None, ctes: Ctes
    ) -> tuple[str, ...]:
        level = self._levels[id(node)] = Level(parent, query=node)
        joins = node.args.get("joins") or ()
        if (clause := node.args.get("from_")) is not None:
            first = self._add_source(clause.this, level, ctes)
            level.columns = self._add_joins(first, joins, level, ctes)
        for lateral in node.args.get("laterals") or ():
            level.columns += self._add_source(lateral, level, ctes)
        self.found.selects[id(node)] = tuple(level.sources.values())
        columns = self._columns.list_columns(node.expressions, level)
        outputs = frozenset(
            name
            for output in node.expressions
            if not isinstance(output, exp.Column | exp.Star)
            if (name := self._columns.name_output(output))
        )
        everywhere = self._resolver.aliases_everywhere
        for join in joins:
            self._resolve_join(join, level, ctes)
        if self._resolver.dialect == "duckdb":
            # An output can name those before it.
            level.outputs = frozenset(
                self._resolver.fold(output.args["alias"])
                for output in node.expressions
                if isinstance(output, exp.Alias)
                and isinstance(output.args["alias"], exp.Identifier)
            )
        for output in node.expressions:
            self._resolve_within(output, level, ctes, with_outputs=everywhere)
        level.outputs = outputs
        self._resolve_within(node.args.get("where"), level, ctes, with_outputs=everywhere)
        for key in ("having", "qualify", "limit", "offset"):
            self._resolve_within(node.args.get(key), level, ctes)
        for window in node.args.get("windows") or ():
            self._resolve_within(window, level, ctes, with_outputs=everywhere)
        for key in ("distinct", "group", "order"):
            self._resolve_order(node.args.get(key), level, ctes)
        if node.args.get("group") is not None:
            self.found.groups.append(Group(node, level.sources, self.found.origins))
        return columns

    def _resolve_order(self, node: exp.Expr | None, level: Level, ctes: Ctes) -> None:
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
            self._resolve_within(item, level, ctes, with_outputs=within_items or is_name)

    # -- FROM ----------------------------------------------------------------------------------

    def _add_joins(
        self, columns: tuple[str, ...], joins: Sequence[exp.Join], level: Level, ctes: Ctes
    ) -> tuple[str, ...]:
        """Makes the right sides known; all columns, ``columns`` those of the left, in order."""
        for join in joins:
            right = self._add_source(join.this, level, ctes)
            shared = [self._columns.read_using(each) for each in join.args.get("using") or ()]
            columns = merge_columns(columns, right, join, shared, self._resolver.dialect)
        return columns

    def _add_source(self, node: exp.Expr, level: Level, ctes: Ctes) -> tuple[str, ...]:
        """Makes what stands in FROM or JOIN known under its name; its columns in their order."""
        if isinstance(node, exp.Table):
            return self._add_table(node, level, ctes)
        if isinstance(node, exp.Subquery):
            return self._add_subquery(node, level, ctes)
        if isinstance(node, exp.Lateral):
            return self._add_lateral(node, level, ctes)
        if isinstance(node, exp.Values):
            self._resolve_within(node.expressions, Level(level.parent), ctes)
            source = Source(name_values(node, self._resolver.dialect), origin=node)
            return self._name(node, source, level).columns
        if isinstance(node, exp.Unnest):
            self._resolve_within(node.expressions, Level(level), ctes)
            return self._name(node, Source((), origin=node), level).columns
        kind = type(node).__name__
        raise Unresolved("node_not_allowed", kind, f"{kind} is not allowed in FROM.")

    def _add_table(self, node: exp.Table, level: Level, ctes: Ctes) -> tuple[str, ...]:
        check_args(node, TABLE_ARGS)
        self._seen.add(id(node))
        joins = node.args.get("joins") or ()
        if isinstance(node.this, exp.Func):
            # What it names is around it, as with a subquery.
            self._resolve_within(node.this, Level(level), ctes)
            columns = self._name(node, Source((), origin=node.this), level).columns
        elif node.args.get("ordinality"):
            raise Unresolved(
                "node_not_allowed", quote_fragment(node), "ORDINALITY is for functions only."
            )
        else:
            columns = self._add_named(node, level, ctes).columns
        columns = self._add_joins(columns, joins, level, ctes)
        for join in joins:
            self._resolve_join(join, level, ctes)
        return columns

    def _add_named(self, node: exp.Table, level: Level, ctes: Ctes) -> Source:
        """A physical table, or a CTE, which takes precedence where no schema is named."""
        is_bare = isinstance(node.this, exp.Identifier) and not node.args.get("db")
        cte = ctes.get(self._resolver.fold(node.this)) if is_bare else None
        if cte is None:
            if is_bare:
                self._check_is_no_cte(node)
            table = self._resolver.find_table(node)
            source = self._name(node, Source(self._resolver.list_columns(table), table), level)
            self.found.tables.append((node, table, source))
            return source
        if not cte.new_name:
            raise Unresolved(
                "unexplained_table", node.name, f"{node.name} is used before it is written."
            )
        source = self._name(node, Source(cte.columns, origin=cte.query), level)
        if node.args.get("alias") is None:
            node.set("alias", exp.TableAlias(this=node.this.copy()))
        elif not node.args["alias"].args.get("this"):
            node.args["alias"].set("this", node.this.copy())
        node.set("this", exp.to_identifier(cte.new_name))
        return source

    def _check_is_no_cte(self, node: exp.Table) -> None:
        """Raises Unresolved where the database may take the name for a CTE that we do not see.

        PostgreSQL's rules are known to the letter, and DuckDB's parser is asked again; SQLite's
        CTEs see one another in any order.
        """
        if self._resolver.dialect != "sqlite":
            return
        name = self._resolver.fold(node.this)
        around = node.parent
        while around is not None:
            if name in self._cte_names.get(id(around.args.get("with_")), ()):
                raise Unresolved(
                    "unexplained_table", node.name, f"{node.name} is a table and a CTE here."
                )
            around = around.parent

    def _add_subquery(self, node: exp.Subquery, level: Level, ctes: Ctes) -> tuple[str, ...]:
        if isinstance(node.this, exp.Query | exp.Values):
            # What stands in FROM sees nothing of its neighbours, but what is around all of them.
            columns = self.resolve_query(node, level.parent, ctes)
            return self._name(node, Source(columns, origin=node), level).columns
        check_args(node, SUBQUERY_ARGS)
        if node.args.get("alias") is None:
            # Parentheses around a join: the names in it are known outside.
            return self._add_source(node.this, level, ctes)
        inner = Level(level.parent)
        columns = self._add_source(node.this, inner, ctes)
        parts = tuple(inner.sources.values())
        return self._name(node, Source(columns, origin=parts), level).columns

    def _add_lateral(self, node: exp.Lateral, level: Level, ctes: Ctes) -> tuple[str, ...]:
        if node.args.get("view") or node.args.get("outer") or node.args.get("cross_apply"):
            raise Unresolved(
                "node_not_allowed", quote_fragment(node), "Such a LATERAL is not allowed."
            )
        inner = node.this
        if isinstance(inner, exp.Subquery):
            source = Source(self.resolve_query(inner, level, ctes), origin=inner)
        elif isinstance(inner, exp.Unnest | exp.Func):
            self._resolve_within(list(inner.iter_expressions()), Level(level), ctes)
            source = Source((), origin=inner)
        else:
            kind = type(inner).__name__
            raise Unresolved("node_not_allowed", kind, f"LATERAL {kind} is not allowed.")
        return self._name(node, source, level).columns

    def _name(self, node: exp.Expr, source: Source, level: Level) -> Source:
        """Puts the source under its alias or name, which no other may bear."""
        name = self._find_name(node)
        if is_function(node):
            outputs = name_outputs(node, name, self._resolver.dialect)
            given = [self._resolver.fold(each) for each in take_new_names(node)]
            source = replace(source, columns=rename_columns(outputs, given, name))
            if self._resolver.dialect == "postgres":
                write_names(node, name, source.columns)
        elif isinstance(alias := node.args.get("alias"), exp.TableAlias) and alias.columns:
            # New names go by the order of the columns.
            self._columns.use_all(source)
            given = [self._resolver.fold(each) for each in alias.columns]
            source.columns = rename_columns(source.columns, given, name)
            source.renamed = True
        # Nobody can name what has no name, but its columns are known.
        name = name or f"\0{len(level.sources)}"
        if name in level.sources:
            raise Unresolved(
                "unexplained_table", name, f"The name {name} stands for two tables here."
            )
        level.sources[name] = source
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
            return self._resolver.fold(identifier)
        return name_function(identifier) if isinstance(identifier, exp.Func) else ""

    def _resolve_join(self, join: exp.Join, level: Level, ctes: Ctes) -> None:
        check_join(join, self._resolver.dialect)
        if join.method == "NATURAL":
            for source in level.sources.values():
                self._columns.use_all(source)
        self._resolve_within(join.args.get("on"), level, ctes)
        for column in join.args.get("using") or ():
            self._columns.resolve_using(column, level)

    def _resolve_within(
        self,
        node: object,
        level: Level,
        ctes: Ctes,
        *,
        with_outputs: bool = False,
    ) -> None:
        """Resolves every column and query within an expression, or within each of a list."""
        if isinstance(node, list):
            for each in node:
                self._resolve_within(each, level, ctes)
        elif isinstance(node, exp.Column):
            self._columns.resolve_column(node, level, with_outputs)
            if (star := find_star(node)) is not None:
                self._resolve_within(list_replacements(star), level, ctes)
        elif isinstance(node, exp.Query):
            self.resolve_query(node, level, ctes)
        elif isinstance(node, exp.Boolean):
            self._columns.check_truth(node, level)
        elif isinstance(node, exp.Star):
            check_star(node)
            self._resolve_within(list_replacements(node), level, ctes)
        elif isinstance(node, exp.Expr):
            for child in node.iter_expressions():
                self._resolve_within(child, level, ctes, with_outputs=with_outputs)
