"""Finds the source of each column, and the names of a query's outputs.

Does not check for ambiguous names; the database does that.
"""

from __future__ import annotations

from sqlglot import exp

from execution.guard_dialects import keep_heading, quote_fragment
from execution.name_resolution.nodes import (
    apply_exceptions,
    check_outputs,
    find_star,
    list_excluded,
    name_function,
)
from execution.name_resolution.scopes import (
    NameResolver,
    Resolution,
    Scope,
    Source,
    Unresolved,
    refuse_node,
)
from execution.sqlite.dialect import is_in_double_quotes, read_spelling
from nl2sql.types import NOT_PERMITTED

# Names, quoted or not, that DuckDB reads as functions if it finds no column. It does not look for
# the column outside a subquery, nor in every clause for an output.
_VALUE_FUNCTIONS = frozenset(
    "current_catalog current_date current_role current_schema current_time current_timestamp "
    "current_user localtime localtimestamp session_user user".split()
)

# SQLite's names for the number of a row, in tables that have one; they are NULL in views.
_ROW_NUMBERS = frozenset({"rowid", "oid", "_rowid_"})

# The columns of json_each and json_tree on SQLite that a star does not list.
_HIDDEN_PARTS = frozenset({"json", "root"})

# What is named like the expression in it.
_AROUND_NAME = (exp.Cast, exp.Collate, exp.Filter, exp.Paren, exp.Window, exp.WithinGroup)

# System columns: derived tables do not have them, and no query may read them.
_SYSTEM_COLUMNS = {
    "postgres": frozenset({"ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"}),
    "sqlite": _ROW_NUMBERS,
    "duckdb": frozenset({"rowid"}),
}


class ColumnFinder:
    """Finds the columns of one query; records them in ``found``."""

    def __init__(self, resolver: NameResolver, found: Resolution) -> None:
        self._resolver = resolver
        self._found = found

    def list_columns(self, outputs: list[exp.Expr], scope: Scope) -> tuple[str, ...]:
        """The folded names of a SELECT's outputs in their order, stars expanded.

        Empty for an output without a name that a query can write. Raises Unresolved.
        """
        names: list[str] = []
        for output in outputs:
            if (star := find_star(output)) is None:
                names.append(self.name_output(output))
                continue
            sources = list(scope.sources.values())
            columns = scope.columns
            if isinstance(output, exp.Column):
                name = self._resolver.fold(output.args["table"])
                # Only PostgreSQL lists the columns of a source around the query.
                is_outer = self._resolver.dialect == "postgres" and name not in scope.sources
                scopes = scope.list_outward() if is_outer else (scope,)
                found = next((at.sources[name] for at in scopes if name in at.sources), None)
                sources = [found] if found else []
                columns = found.columns if found else ()
            for source in sources:
                self.use_all(source)
            names += apply_exceptions(columns, star, sources, self._resolver)
            check_outputs(names)
            self._found.seen.update(id(column) for column in list_excluded(star))
        return tuple(names)

    def list_first_outputs(self, query: exp.Expr) -> tuple[str, ...]:
        """The names of the outputs of a recursive query's first part.

        Stars, whose columns are not known yet, are left out, so there may be more.
        """
        while not isinstance(query, exp.Select):
            if not isinstance(query, exp.SetOperation | exp.Subquery):
                return ()
            query = query.this
        return tuple(self.name_output(output) for output in query.expressions if not output.is_star)

    def use_all(self, source: Source) -> None:
        """Records that the query uses every column of the source."""
        for part in source.origin if isinstance(source.origin, tuple) else ():
            self.use_all(part)
        if source.table is not None:
            source.used.update(self._resolver.list_columns(source.table))

    def name_output(self, output: exp.Expr) -> str:
        """The folded name of an output that is not a star; empty if it has none."""
        if isinstance(output, exp.Alias | exp.Column):
            name = output.args.get("alias") or output.this
            return self._resolver.fold(name) if isinstance(name, exp.Identifier) else ""
        if isinstance(output, exp.Subquery):
            inner = output.this
            return self.name_output(inner.expressions[0]) if inner.expressions else ""
        if isinstance(output, _AROUND_NAME):
            return self.name_output(output.this)
        return name_function(output)

    def read_using(self, column: exp.Expr) -> str:
        """The folded name after USING. Raises Unresolved."""
        identifier = column.this if isinstance(column, exp.Column) else column
        if not isinstance(identifier, exp.Identifier):
            raise refuse_node(column, "USING takes names.")
        return self._resolver.fold(identifier)

    def resolve_using(self, column: exp.Expr, scope: Scope) -> None:
        """Resolves a column after USING, which both sides must have. Raises Unresolved."""
        self._found.seen.update(id(node) for node in column.find_all(exp.Column))
        name = self.read_using(column)
        having = [source for source in scope.sources.values() if name in source.columns]
        if len(having) < 2:
            raise self._resolver.refuse_column(scope.sources.values(), name, column)
        for source in having:
            self._use(source, name, column)

    def resolve_column(self, node: exp.Column, scope: Scope, with_outputs: bool) -> None:
        """Finds the source of a column or ``t.*``; it may name an output if ``with_outputs``.

        Rewrites the node if the database would read it otherwise. Raises Unresolved.
        """
        self._found.seen.add(id(node))
        identifier, qualifier = node.this, node.args.get("table")
        if isinstance(identifier, exp.Star):
            # The exceptions of an output were checked when the outputs were listed.
            if any(identifier.args.values()) and not isinstance(node.parent, exp.Select):
                raise refuse_node(node, "A star with exceptions.")
            source = self._find_source(node, scope) if qualifier is not None else None
            if source is None:
                raise refuse_node(
                    node, f"{quote_fragment(node)} is no table's star.", "unknown_column"
                )
            if not isinstance(node.parent, exp.Select):
                _check_row(source, node)
            self.use_all(source)
            return
        if not isinstance(identifier, exp.Identifier):
            raise refuse_node(node, "This is no column.")
        name = self._resolver.fold(identifier)
        if qualifier is not None:
            source = self._find_source(node, scope)
            if source is None and self._resolve_field(node, scope, with_outputs):
                return
            if source is None or name not in source.columns:
                raise self._resolver.refuse_column([source] if source else [], name, node)
            self._use(source, name, node)
            return
        if self._is_known(name, node, scope, with_outputs):
            return
        if not is_in_double_quotes(identifier):
            self._resolve_whole_row(node, name, scope)
        else:
            # SQLite reads such a word as a string if nothing has this name. It must not be the name
            # of a hidden column or of the row's number.
            refusal = self._refuse(node, name, scope)
            if refusal.violation.code == NOT_PERMITTED:
                raise refusal
            is_part = name in _HIDDEN_PARTS and _has_json_source(scope)
            if name in _ROW_NUMBERS or is_part:
                raise refuse_node(node, f"There is no column {name} here.", "unknown_column")
            keep_heading(node)
            node.replace(exp.Literal.string(read_spelling(identifier)))

    def _resolve_field(self, node: exp.Column, scope: Scope, with_outputs: bool) -> bool:
        """Whether ``t.a.b`` or ``a.b`` is a field of a column ``a`` on DuckDB; if so, resolves it.

        As in DuckDB, a source with the first name takes precedence. The field is rewritten as
        ``(t.a).b``, which is unambiguous.
        """
        if self._resolver.dialect != "duckdb":
            return False
        parts = [node.args[key] for key in ("catalog", "db", "table", "this") if node.args.get(key)]
        if not all(isinstance(part, exp.Identifier) for part in parts):
            return False
        names = [self._resolver.fold(part) for part in parts]
        column = exp.Column(this=parts[1].copy(), table=parts[0].copy())
        source = self._find_source(column, scope) if len(parts) > 2 else None
        if source is not None and names[1] in source.columns:
            self._use(source, names[1], column)
            fields = parts[2:]
        else:
            column = exp.Column(this=parts[0].copy())
            if not self._is_known(names[0], column, scope, with_outputs):
                return False
            fields = parts[1:]
        self._found.seen.add(id(column))
        written: exp.Expr = column
        for field in fields:
            written = exp.Dot(this=exp.Paren(this=written), expression=field)
        keep_heading(node)
        node.replace(written)
        return True

    def _refuse(self, node: exp.Column, name: str, scope: Scope) -> Unresolved:
        """The error for a name that nothing here or around the query bears."""
        sources = (source for here in scope.list_outward() for source in here.sources.values())
        return self._resolver.refuse_column(sources, name, node)

    def _is_known(self, name: str, node: exp.Column, scope: Scope, with_outputs: bool) -> bool:
        """Whether a column, or an output that may be used here, has this name; records its use.

        Raises Unresolved for a name that DuckDB would read as a function all the same.
        """
        is_function = self._resolver.dialect == "duckdb" and name in _VALUE_FUNCTIONS
        for here in scope.list_outward():
            if is_function and here is not scope:
                raise refuse_node(
                    node,
                    f"{name} is a function's name too: write the name of its table before it.",
                    "unknown_column",
                )
            if name in here.headings:
                raise refuse_node(node, f"Give the output {name} a name.", "unknown_column")
            # If several sources have the column, the name is ambiguous, and must stay so.
            having = [source for source in here.sources.values() if name in source.columns]
            for source in having:
                self._use(source, name, node)
            if having:
                return True
            if name in _SYSTEM_COLUMNS[self._resolver.dialect]:
                self._check_is_no_system_column(name, node, here, scope)
            has_outputs = self._resolver.aliases_everywhere and not is_function
            has_outputs = has_outputs or (here is scope and with_outputs)
            if has_outputs and name in here.outputs:
                self._found.origins[id(node)] = self._build_output(name, here)
                return True
        return False

    def _build_output(self, name: str, scope: Scope) -> Source:
        """The source of a name that means an output of the query around it."""
        if not isinstance(scope.query, exp.Select):
            return Source((name,), origin=scope.query)
        outputs = (out for out in scope.query.expressions if self.name_output(out) == name)
        return Source(
            (name,), origin=tuple(Source((name,), origin=output.unalias()) for output in outputs)
        )

    def _check_is_no_system_column(
        self, name: str, node: exp.Column, here: Scope, scope: Scope
    ) -> None:
        """Raises Unresolved if a table in ``here`` has such a system column.

        An item of ORDER BY with the name of an output means the output.
        """
        tables = [
            source for source in here.sources.values() if not isinstance(source.origin, exp.Query)
        ]
        # SQLite looks for it only if there is a single table.
        if not tables or (self._resolver.dialect == "sqlite" and len(tables) > 1):
            return
        if here is scope and name in here.outputs and _orders_query(node):
            return
        raise refuse_node(
            node,
            f"{name} is a name that the database keeps for itself: give the column another one.",
            "unknown_column",
        )

    def _resolve_whole_row(self, node: exp.Column, name: str, scope: Scope) -> None:
        """Resolves a name that no column has as a table's whole row. Raises Unresolved."""
        for here in scope.list_outward():
            source = here.sources.get(name)
            if source is not None and self._resolver.has_whole_rows:
                _check_row(source, node)
                self.use_all(source)
                self._found.origins[id(node)] = source
                return
        raise self._refuse(node, name, scope)

    def _find_source(self, node: exp.Column, scope: Scope) -> Source | None:
        """The source of ``a.b`` or ``s.a.b``; removes the schema, in place."""
        name = self._resolver.fold(node.args["table"])
        for here in scope.list_outward():
            if (source := here.sources.get(name)) is not None:
                schema = node.args.get("db")
                if schema is not None:
                    table = source.table
                    known = self._resolver.fold_table(table) if table is not None else None
                    written = (self._resolver.fold(schema), name)
                    if node.args.get("catalog") or known != written:
                        return None
                    # The table gets an alias, so its qualified name is no longer valid.
                    node.set("db", None)
                return source
        return None

    def _use(self, source: Source, name: str, node: exp.Expr) -> None:
        self._found.origins[id(node)] = source
        for part in source.origin if isinstance(source.origin, tuple) else ():
            if name in part.columns:
                self._use(part, name, node)
        if source.table is not None and name in self._resolver.list_columns(source.table):
            source.used.add(name)


def _check_row(source: Source, node: exp.Column) -> None:
    """Raises Unresolved for the whole row of a table whose columns an alias renames.

    Such a row has the table's own names; the row of the wrapper that replaces it would not.
    """
    if source.renamed and source.table is not None:
        raise refuse_node(node, "Name the columns of a renamed table.")


def _orders_query(node: exp.Expr) -> bool:
    """Whether the node alone is an item of a query's ORDER BY."""
    item = node.parent
    while isinstance(item, exp.Paren):
        item = item.parent
    order = item.parent if isinstance(item, exp.Ordered) else None
    return isinstance(order, exp.Order) and isinstance(order.parent, exp.Query)


def _has_json_source(scope: Scope) -> bool:
    """Whether json_each or json_tree is in FROM, here or in an outer query."""
    return any(
        isinstance(source.origin, exp.Func)
        for here in scope.list_outward()
        for source in here.sources.values()
    )
