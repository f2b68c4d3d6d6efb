"""Aggregates, and the columns beside them that are not grouped by."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from repair.autocorrect.select_scopes import SelectScope, read_scopes
from repair.autocorrect.table_lookup import TableLookup


def has_aggregate(node: exp.Expr) -> bool:
    """True if it contains an aggregate, apart from window functions and those of subqueries.

    >>> from nl2sql.sql.parsing import parse_one
    >>> tree = parse_one("SELECT a, 1 + SUM(b), (SELECT MAX(c) FROM t) FROM u", "postgres")
    >>> [has_aggregate(output) for output in tree.expressions]
    [False, True, False]
    """
    select = node if isinstance(node, exp.Select) else node.parent_select
    return any(
        function.parent_select is select and not isinstance(function.parent, exp.Window)
        for function in find_all(node, exp.AggFunc)
    )


def list_bare_columns(node: exp.Expr) -> list[exp.Column]:
    """The columns of the node outside aggregates, window functions and subqueries.

    >>> import sqlglot
    >>> from nl2sql.sql.parsing import parse_one
    >>> tree = parse_one("SELECT a + SUM(b) FROM t", "postgres")
    >>> [column.sql() for column in list_bare_columns(tree.expressions[0])]
    ['a']
    """
    select = node.parent_select
    return [
        column
        for column in find_all(node, exp.Column)
        if column.parent_select is select
        and column.find_ancestor(exp.AggFunc, exp.Select) is select
        and not (isinstance(column.parent, exp.Window))
    ]


def missing_groups(tree: exp.Expr, visible: TableLookup) -> bool:
    """Groups ``SELECT country, COUNT(*) FROM customers`` by country.

    SQLite would return the country of any row, but refuses an aggregate that only orders or
    filters.
    """
    return max([_complete(scope) for scope in read_scopes(tree, visible)], default=False)


def _complete(scope: SelectScope) -> bool:
    select, visible = scope.select, scope.visible
    group, order, having = (select.args.get(key) for key in ("group", "order", "having"))
    selects_aggregate = any(map(has_aggregate, select.expressions))
    needs_group = having is not None or (order is not None and has_aggregate(order))
    if visible.dialect == "sqlite" and (selects_aggregate or group or not needs_group):
        return False
    if not (selects_aggregate or needs_group or group):
        return False
    if any(isinstance(expression, exp.Star) for expression in select.expressions):
        return False
    grouped = _read_grouped(scope)
    missing: dict[str, exp.Column] = {}
    # Without GROUP BY, all rows are one group, and an order of groups has no meaning.
    sorted_by = order.expressions if order is not None and group is not None else []
    for output in (*select.expressions, *sorted_by):
        whole = output.this if isinstance(output, exp.Alias | exp.Ordered) else output
        if grouped and (output.alias_or_name in grouped or _write(whole) in grouped):
            continue
        if output in sorted_by and whole.name in scope.outputs:
            continue
        for column in list_bare_columns(whole):
            if not _is_grouped(column, grouped, scope):
                missing[_write(column)] = column.copy()
    if not missing:
        return False
    select.group_by(*missing.values(), copy=False)
    return True


def _read_grouped(scope: SelectScope) -> set[str]:
    """The SQL of the items of GROUP BY, and of the outputs that their numbers refer to."""
    outputs = scope.select.expressions
    grouped = set()
    group = scope.select.args.get("group")
    for item in group.expressions if group is not None else ():
        if isinstance(item, exp.Literal) and item.name.isdigit() and int(item.name) <= len(outputs):
            output = outputs[int(item.name) - 1]
            item = output.this if isinstance(output, exp.Alias) else output
        grouped.add(_write(item))
    return grouped


def _write(node: exp.Expr) -> str:
    # Most are columns, which rendering does not change; copying would be the largest cost.
    return node.sql(copy=not isinstance(node, exp.Column))


def _is_grouped(column: exp.Column, grouped: set[str], scope: SelectScope) -> bool:
    """Whether it is grouped by, in either spelling, or by the primary key of its table."""
    owner = column.args.get("table")
    owners = scope.owners(scope.visible.spell(column.this))
    source = scope.find_source(scope.visible.spell(owner)) if owner is not None else None
    if source is None and len(owners) == 1:
        source = owners[0]
    if _write(column) in grouped or column.name in grouped:
        return True
    if source is None:
        return False
    alias = source.identifier.sql()
    if f"{alias}.{column.this.sql()}" in grouped:
        return True
    key = source.table.primary_key if source.table is not None else ()
    return (
        scope.visible.dialect == "postgres"
        and bool(key)
        and all({name, f"{alias}.{name}"} & grouped for name in key)
    )
