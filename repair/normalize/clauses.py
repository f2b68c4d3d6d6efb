"""Rules on clauses: what one database allows in a clause and the target does not."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from repair.normalize.calls import list_calls
from repair.normalize.facts import Facts
from repair.normalize.readers import write

# Clauses in which PostgreSQL does not find aliases; SQLite does, except in the outputs themselves.
_PLACES = {"postgres": ("where", "having", "expressions"), "sqlite": ("expressions",)}
_AGGREGATES = frozenset(
    "COUNT SUM AVG MIN MAX STRING_AGG GROUP_CONCAT ARRAY_AGG BOOL_OR BOOL_AND STDDEV TOTAL".split()
)


def alias_references(tree: exp.Expr, facts: Facts) -> bool:
    """``HAVING total > 5`` becomes ``HAVING SUM(amount) > 5`` if that output is named total.

    Does nothing if a table has a column of that name, or the tables' columns are unknown.
    """
    changed = False
    for select in find_all(tree, exp.Select):
        columns = _list_columns(select, facts)
        if columns is None:
            continue
        outputs = {
            expression.alias.lower(): expression.this
            for expression in select.expressions
            if isinstance(expression, exp.Alias) and expression.alias.lower() not in columns
        }
        for place in _PLACES.get(facts.target, ()):
            changed |= _replace_in(select, place, outputs)
    return changed


def _replace_in(select: exp.Select, place: str, outputs: dict[str, exp.Expr]) -> bool:
    changed = False
    value = select.args.get(place)
    for part in value if isinstance(value, list) else [value] if value else []:
        for column in list(find_all(part, exp.Column)):
            meant = outputs.get(column.name.lower()) if not column.table else None
            if meant is None or column.find_ancestor(exp.Select) is not select:
                continue
            if column in set(find_all(meant, exp.Column)):
                continue  # an output with the name of a part of itself
            if _is_aggregated(meant) and column.find_ancestor(exp.Anonymous):
                continue
            is_whole = isinstance(meant, exp.Binary | exp.Unary)
            column.replace(exp.paren(meant) if is_whole else meant.copy())
            changed = True
    return changed


def _is_aggregated(node: exp.Expr) -> bool:
    calls = (call.name.upper() for call in find_all(node, exp.Anonymous))
    return node.find(exp.Window) is not None or any(name in _AGGREGATES for name in calls)


def _list_columns(select: exp.Select, facts: Facts) -> frozenset[str] | None:
    """All columns of the tables that a query reads, in lower case; None if one is unknown."""
    joins = select.args.get("joins") or ()
    source = select.args.get("from_")
    names: set[str] = set()
    for clause in (source, *joins) if source else ():
        found = _list_names(clause.this, facts)
        if found is None:
            return None
        names.update(name.lower() for name in found)
    return frozenset(names)


def _list_names(source: exp.Expr, facts: Facts) -> Iterable[str] | None:
    if isinstance(source, exp.Subquery) and isinstance(source.this, exp.Query):
        return None if source.this.is_star else source.this.named_selects
    for table in facts.tables:
        if isinstance(source, exp.Table) and table.name.lower() == source.name.lower():
            return [column.name for column in table.columns]
    return None


def distinct_order(tree: exp.Expr, facts: Facts) -> bool:
    """``SELECT DISTINCT a … ORDER BY b`` becomes ``… GROUP BY a ORDER BY MIN(b)``.

    A descending order uses MAX. Not on SQLite, which allows such queries.
    """
    if facts.target == "sqlite":
        return False
    changed = False
    for select in find_all(tree, exp.Select):
        order, distinct = select.args.get("order"), select.args.get("distinct")
        if order is None or distinct is None or distinct.args.get("on") or select.args.get("group"):
            continue
        if any(list_calls(select, _AGGREGATES)) or select.is_star or select.find(exp.Window):
            continue
        shown = {expression.unalias() for expression in select.expressions}
        names = {expression.alias_or_name.lower() for expression in select.expressions}
        hidden = [
            expression
            for expression in order.expressions
            if isinstance(expression.this, exp.Column)
            and expression.this not in shown
            and (expression.this.table or expression.this.name.lower() not in names)
            and expression.this.name.lower() not in names
        ]
        if not hidden:
            continue
        for item in hidden:
            call = "MAX" if item.args.get("desc") else "MIN"
            item.set("this", write(f"{call}({{x}})", facts, x=item.this))
        select.set("distinct", None)
        select.group_by(
            *[expression.unalias().copy() for expression in select.expressions], copy=False
        )
        changed = True
    return changed
