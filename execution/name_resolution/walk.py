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

from execution.name_resolution.columns import ColumnFinder, name_function
from execution.name_resolution.nodes import (
    FUNCTION_COLUMNS,
    JOIN_ARGS,
    JOIN_KINDS,
    SELECT_ARGS,
    SET_ARGS,
    SUBQUERY_ARGS,
    TABLE_ARGS,
    check_args,
    check_star,
    is_function,
    name_values,
)
from execution.name_resolution.resolver import NameResolver
from execution.name_resolution.scopes import Cte, Ctes, Group, Level, Resolution, Source, Unresolved


def resolve_names(tree: exp.Expr, nodes: Sequence[exp.Expr], resolver: NameResolver) -> Resolution:
    """Checks all names of ``tree`` and renames its CTEs, in place.

    ``nodes`` are all nodes of the tree. Raises Unresolved.
    """
    walk = _Walk(resolver)
    walk.resolve_query(tree, None, {})
    walk.check_nothing_is_left(nodes)
    return walk.found


class _Walk:
    """One walk over one tree."""

    def __init__(self, resolver: NameResolver) -> None:
        self._resolver = resolver
        self._seen: set[int] = set()
        self._cte_names: dict[int, set[str]] = {}
        self._ctes = 0
        self.found = Resolution()
        self._columns = ColumnFinder(resolver, self.found, self._seen)

    def check_nothing_is_left(self, nodes: Sequence[exp.Expr]) -> None:
        """Raises Unresolved for a table or column at which the walk did not come by."""
        for node in nodes:
            if isinstance(node, exp.Table | exp.Column) and id(node) not in self._seen:
                kind = "table" if isinstance(node, exp.Table) else "column"
                raise Unresolved(
                    f"unexplained_{kind}", node.sql(), f"The {kind} {node.sql()} cannot be traced."
                )

    # -- queries -------------------------------------------------------------------------------

    def resolve_query(self, node: exp.Expr, parent: Level | None, ctes: Ctes) -> frozenset[str]:
        """The folded names of the outputs of a SELECT, a set operation or one in parentheses."""
        if isinstance(node, exp.Select):
            check_args(node, SELECT_ARGS)
            return self._resolve_select(node, parent, self._resolve_with(node, parent, ctes))
        if isinstance(node, exp.SetOperation):
            check_args(node, SET_ARGS)
            within = self._resolve_with(node, parent, ctes)
            columns = self.resolve_query(node.this, parent, within)
            self.resolve_query(node.expression, parent, within)
        elif isinstance(node, exp.Subquery) and isinstance(node.this, exp.Query | exp.Values):
            check_args(node, SUBQUERY_ARGS)
            within = self._resolve_with(node, parent, ctes)
            columns = self.resolve_query(node.this, parent, within)
        elif isinstance(node, exp.Values):
            self._resolve_within(node, Level(parent), ctes)
            return name_values(node)
        else:
            kind = type(node).__name__
            raise Unresolved("node_not_allowed", kind, f"{kind} is no query.")
        level = Level(parent, outputs=columns, query=node)
        for key in ("order", "limit", "offset"):
            self._resolve_within(node.args.get(key), level, within, with_outputs=True)
        return columns

    def _resolve_with(self, node: exp.Expr, parent: Level | None, ctes: Ctes) -> Ctes:
        clause = node.args.get("with_")
        if clause is None:
            return ctes
        within = dict(ctes)
        self._cte_names[id(clause)] = {
            self._resolver.fold(cte.args["alias"].this) for cte in clause.expressions
        }
        if clause.args.get("recursive"):
            for cte in clause.expressions:
                within.pop(self._resolver.fold(cte.args["alias"].this), None)
        for cte in clause.expressions:
            self._resolve_cte(cte, bool(clause.args.get("recursive")), clause, parent, within)
        return within

    def _resolve_cte(
        self, cte: exp.CTE, recursive: bool, clause: exp.With, parent: Level | None, within: Ctes
    ) -> None:
        alias = cte.args["alias"]
        name = self._resolver.fold(alias.this)
        named = frozenset(self._resolver.fold(column) for column in alias.columns)
        self._ctes += 1
        new_name = f"{self._resolver.cte_prefix}{self._ctes}"
        visible = within
        if recursive:
            visible = {**within, **self._list_later(clause, cte)}
            columns = named
            if not named and isinstance(cte.this, exp.SetOperation):
                # Its first part cannot name it, so its outputs are known before the second.
                columns = self._list_outputs(cte.this)
            visible[name] = Cte(columns, new_name, cte.this)
        columns = self.resolve_query(cte.this, parent, visible)
        within[name] = Cte((columns | named) if named else columns, new_name, cte.this)
        alias.set("this", exp.to_identifier(new_name))

    def _list_later(self, clause: exp.With, cte: exp.CTE) -> Ctes:
        """The CTEs behind this one, which WITH RECURSIVE lets it name; unknown as yet."""
        ctes = clause.expressions
        at = next(index for index, each in enumerate(ctes) if each is cte)
        return {
            self._resolver.fold(later.args["alias"].this): Cte(frozenset(), "")
            for later in ctes[at + 1 :]
        }

    def _list_outputs(self, node: exp.Expr) -> frozenset[str]:
        """The names that the first part of a recursive query gives its outputs."""
        while not isinstance(node, exp.Select):
            if not isinstance(node, exp.SetOperation | exp.Subquery):
                return frozenset()
            node = node.this
        return frozenset(
            name
            for output in node.expressions
            if not output.is_star
            for name in self._columns.name_output(output)
        )

    def _resolve_select(self, node: exp.Select, parent: Level | None, ctes: Ctes) -> frozenset[str]:
        level = Level(parent, query=node)
        if (clause := node.args.get("from_")) is not None:
            self._add_source(clause.this, level, ctes)
        joins = node.args.get("joins") or ()
        for join in joins:
            self._add_source(join.this, level, ctes)
        for lateral in node.args.get("laterals") or ():
            self._add_source(lateral, level, ctes)
        self.found.selects[id(node)] = tuple(level.sources.values())
        columns = self._columns.list_columns(node.expressions, level)
        outputs = frozenset(
            name
            for output in node.expressions
            if not isinstance(output, exp.Column | exp.Star)
            for name in self._columns.name_output(output)
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
        for key in ("where", "having", "qualify", "limit", "offset"):
            self._resolve_within(node.args.get(key), level, ctes, with_outputs=everywhere)
        for window in node.args.get("windows") or ():
            self._resolve_within(window, level, ctes, with_outputs=everywhere)
        for key in ("distinct", "group", "order"):
            self._resolve_within(node.args.get(key), level, ctes, with_outputs=True)
        if node.args.get("group") is not None:
            self._note_group(node, level)
        return columns

    def _note_group(self, node: exp.Select, level: Level) -> None:
        used = {
            name: (source.table, source.used)
            for name, source in level.sources.items()
            if source.table is not None
        }
        if used:
            self.found.groups.append(Group(node, used))

    # -- FROM ----------------------------------------------------------------------------------

    def _add_source(self, node: exp.Expr, level: Level, ctes: Ctes) -> None:
        """Makes what stands in FROM or JOIN known under its name."""
        if isinstance(node, exp.Table):
            self._add_table(node, level, ctes)
        elif isinstance(node, exp.Subquery):
            self._add_subquery(node, level, ctes)
        elif isinstance(node, exp.Values):
            self._resolve_within(node.expressions, Level(level.parent), ctes)
            self._name(node, Source(name_values(node)), level)
        elif isinstance(node, exp.Unnest):
            self._resolve_within(node.expressions, level, ctes)
            offset = node.args.get("offset")
            names = {self._resolver.fold(offset)} if isinstance(offset, exp.Identifier) else set()
            self._name(node, Source(FUNCTION_COLUMNS | names, origin=node), level)
        elif isinstance(node, exp.Lateral):
            self._add_lateral(node, level, ctes)
        else:
            kind = type(node).__name__
            raise Unresolved("node_not_allowed", kind, f"{kind} is not allowed in FROM.")

    def _add_table(self, node: exp.Table, level: Level, ctes: Ctes) -> None:
        check_args(node, TABLE_ARGS)
        self._seen.add(id(node))
        joins = node.args.get("joins") or ()
        if isinstance(node.this, exp.Func):
            self._resolve_within(node.this, level, ctes)
            columns = FUNCTION_COLUMNS | name_function(node.this)
            self._name(node, Source(columns, origin=node.this), level)
        elif node.args.get("ordinality"):
            raise Unresolved("node_not_allowed", node.sql(), "ORDINALITY is for functions only.")
        else:
            self._add_named(node, level, ctes)
        for join in joins:
            self._add_source(join.this, level, ctes)
        for join in joins:
            self._resolve_join(join, level, ctes)

    def _add_named(self, node: exp.Table, level: Level, ctes: Ctes) -> None:
        """A physical table, or a CTE, which takes precedence where no schema is named."""
        is_bare = isinstance(node.this, exp.Identifier) and not node.args.get("db")
        cte = ctes.get(self._resolver.fold(node.this)) if is_bare else None
        if cte is None:
            if is_bare:
                self._check_is_no_cte(node)
            table = self._resolver.find_table(node)
            source = Source(self._resolver.list_columns(table), table)
            self.found.tables.append((node, table, self._name(node, source, level)))
            return
        if not cte.new_name:
            raise Unresolved(
                "unexplained_table", node.name, f"{node.name} is used before it is written."
            )
        self._name(node, Source(cte.columns, origin=cte.query), level)
        if node.args.get("alias") is None:
            node.set("alias", exp.TableAlias(this=node.this.copy()))
        elif not node.args["alias"].args.get("this"):
            node.args["alias"].set("this", node.this.copy())
        node.set("this", exp.to_identifier(cte.new_name))

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

    def _add_subquery(self, node: exp.Subquery, level: Level, ctes: Ctes) -> None:
        if isinstance(node.this, exp.Query | exp.Values):
            # What stands in FROM sees nothing of its neighbours, but what is around all of them.
            columns = self.resolve_query(node, level.parent, ctes)
            self._name(node, Source(columns, origin=node), level)
        elif node.args.get("alias") is None:
            # Parentheses around a join: the names in it are known outside.
            self._add_source(node.this, level, ctes)
        else:
            inner = Level(level.parent)
            self._add_source(node.this, inner, ctes)
            parts = tuple(inner.sources.values())
            columns = frozenset(name for each in parts for name in each.columns)
            self._name(node, Source(columns, origin=parts), level)
        for join in node.args.get("joins") or ():
            self._add_source(join.this, level, ctes)
            self._resolve_join(join, level, ctes)

    def _add_lateral(self, node: exp.Lateral, level: Level, ctes: Ctes) -> None:
        if node.args.get("view") or node.args.get("outer") or node.args.get("cross_apply"):
            raise Unresolved("node_not_allowed", node.sql(), "Such a LATERAL is not allowed.")
        inner = node.this
        if isinstance(inner, exp.Subquery) and isinstance(inner.this, exp.Query | exp.Values):
            source = Source(self.resolve_query(inner, level, ctes), origin=inner)
        elif isinstance(inner, exp.Unnest | exp.Func):
            self._resolve_within(list(inner.iter_expressions()), level, ctes)
            source = Source(FUNCTION_COLUMNS | name_function(inner), origin=inner)
        else:
            kind = type(inner).__name__
            raise Unresolved("node_not_allowed", kind, f"LATERAL {kind} is not allowed.")
        self._name(node, source, level)

    def _name(self, node: exp.Expr, source: Source, level: Level) -> Source:
        """Puts the source under its alias or name, which no other may bear."""
        alias = node.args.get("alias")
        renamed = frozenset[str]()
        identifier: object = None
        if isinstance(alias, exp.TableAlias):
            identifier = alias.args.get("this")
            renamed = frozenset(self._resolver.fold(column) for column in alias.columns)
        if identifier is None and isinstance(node, exp.Table):
            identifier = node.this
        if isinstance(identifier, exp.Identifier):
            name = self._resolver.fold(identifier)
        elif isinstance(identifier, exp.Func):
            name = next(iter(name_function(identifier)), "")
        else:
            # Nobody can name it, but its columns are known; the number keeps such ones apart.
            name = f"\0{len(level.sources)}"
        if isinstance(node, exp.Table | exp.Lateral | exp.Unnest) and source.table is None:
            # A function with one column calls it like itself.
            own = {name} if is_function(node) else set()
            source = replace(source, columns=source.columns | own)
        if renamed:
            # New names go by the order of the columns.
            self._columns.use_all(source)
            source = replace(source, columns=source.columns | renamed)
        if name in level.sources:
            raise Unresolved(
                "unexplained_table", name, f"The name {name} stands for two tables here."
            )
        level.sources[name] = source
        return source

    def _resolve_join(self, join: exp.Join, level: Level, ctes: Ctes) -> None:
        check_args(join, JOIN_ARGS)
        if (join.args.get("method") or "").upper() not in ("", "NATURAL"):
            raise Unresolved("node_not_allowed", join.sql(), "Such a join is not allowed.")
        if join.args.get("method"):
            for source in level.sources.values():
                self._columns.use_all(source)
        if (join.args.get("kind") or "").upper() not in JOIN_KINDS:
            raise Unresolved("node_not_allowed", join.sql(), "Such a join is not allowed.")
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
                self._resolve_within(each, level, ctes, with_outputs=with_outputs)
        elif isinstance(node, exp.Column):
            self._columns.resolve_column(node, level, with_outputs)
        elif isinstance(node, exp.Query | exp.Subquery):
            self.resolve_query(node, level, ctes)
        elif isinstance(node, exp.Star):
            check_star(node)
        elif isinstance(node, exp.Expr):
            for child in node.iter_expressions():
                self._resolve_within(child, level, ctes, with_outputs=with_outputs)
