"""Tables: how they are joined, whether they are used, and columns of the wrong one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from nl2sql.types import Finding
from nl2sql.words import split_words
from ranking.query import ColumnUse, Query


def join_off_keys(query: Query) -> Finding | None:
    """An error if a key column is joined, or compared by IN, with a column that it does not match.

    Not every schema declares its keys, so columns that are named after one another are allowed, and
    so are columns without keys of tables between which there is no key.
    """
    for left, right in _list_pairs(query.tree):
        one, other = query.resolve(left), query.resolve(right)
        if one is None or other is None or one.table is other.table:
            continue
        if _is_named_after(query, one, other) or _is_named_after(query, other, one):
            continue
        if query.name_values(one) == query.name_values(other):
            continue
        if (query.is_key(one) and query.is_key(other)) or query.are_tied(one.table, other.table):
            message = f"No key ties {left.sql()} to {right.sql()}."
            return Finding("join_off_keys", "error", message)
    return None


def _is_named_after(query: Query, column: ColumnUse, target: ColumnUse) -> bool:
    """True if the names imply an undeclared key: ``start_station_id`` and ``station.id``.

    A column in no key may be one to any table: ``manager_id`` and ``employees.employee_id``.
    """
    name, other = column.column.name, target.column.name
    if name.lower() == other.lower():
        return name.lower() != "id"
    is_free = not query.is_key(column) and name not in column.table.primary_key
    is_alike = split_words(name)[-1:] == split_words(other)[-1:]
    if is_free and is_alike and target.table.primary_key == (other,):
        return True
    return f"{target.table.name}_{other}".lower() in name.lower()


def _list_pairs(tree: exp.Expr) -> Iterator[tuple[exp.Expr, exp.Expr]]:
    """Pairs of columns that the query compares for equality."""
    for node in find_all(tree, exp.EQ, exp.In):
        left = node.this
        right = node.args.get("expression" if isinstance(node, exp.EQ) else "query")
        if isinstance(right, exp.Subquery):
            inner = right.this
            if not isinstance(inner, exp.Select) or len(inner.expressions) != 1:
                continue
            right = inner.expressions[0].unalias()
        if isinstance(left, exp.Column) and isinstance(right, exp.Column):
            yield left, right


def outer_column(query: Query) -> Finding | None:
    """An error if a subquery selects an unqualified column that none of its tables has.

    ``x IN (SELECT x FROM t)`` is true for every row if ``t`` has no ``x``: the database then uses
    the outer ``x``.
    """
    for select in query.find_all(exp.Select):
        for projection in select.expressions:
            for column in find_all(projection, exp.Column):
                use = query.resolve(column)
                if use and use.outer and not column.table and column.parent_select is select:
                    message = f"The subquery selects {column.name}, which none of its tables has."
                    return Finding("outer_column", "error", message)
    return None


_ANY = ""


def unused_join(query: Query) -> Finding | None:
    """A warning if only the condition of one join names a table.

    The join may be meant to keep only rows with a match; more often it just multiplies rows. In
    EXCEPT, INTERSECT and UNION, which drop repeated rows, it cannot multiply and is allowed.
    """
    for select in query.find_all(exp.Select):
        joins = select.args.get("joins") or ()
        if not joins or select.is_star or _counts_rows(select) or _is_made_distinct(select):
            continue
        uses = _count_uses(query, select)
        for node in [select.args["from_"].this, *(join.this for join in joins)]:
            name = node.alias_or_name.lower()
            if isinstance(node, exp.Table) and uses[name] == 1 and not uses[_ANY]:
                return Finding("unused_join", "warning", f"{name} is joined and not used.")
    return None


def _is_made_distinct(select: exp.Select) -> bool:
    return isinstance(select.parent, exp.SetOperation) and bool(select.parent.args.get("distinct"))


def _counts_rows(select: exp.Select) -> bool:
    """True for count(*), which counts the rows of all tables."""
    return any(isinstance(star.parent, exp.Count) for star in find_all(select, exp.Star))


def _count_uses(query: Query, select: exp.Select) -> Counter[str]:
    """The number of clauses and join conditions that name each table (unqualified: any)."""
    clauses = [join.args.get("on") for join in select.args["joins"]]
    clauses += [select.args.get(part) for part in ("where", "group", "having", "order")]
    clauses += select.expressions
    uses: Counter[str] = Counter()
    for clause in clauses:
        if clause is not None:
            uses.update({_find_table(query, column) for column in find_all(clause, exp.Column)})
    return uses


def _find_table(query: Query, column: exp.Column) -> str:
    if column.table:
        return column.table.lower()
    use = query.resolve(column)
    return use.source if use else _ANY
