"""A joined table of which no column is used."""

from __future__ import annotations

from collections import Counter

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from nl2sql.types import Finding
from ranking.query import Query

_ANY = ""


def unused_join(query: Query) -> Finding | None:
    """A warning if only the condition of one join names a table.

    The join may be meant to keep only rows with a match; more often it just multiplies rows. In
    EXCEPT, INTERSECT and UNION, which drop repeated rows, it cannot multiply and is allowed.

    >>> from ranking.query import read_query
    >>> sql = "SELECT a.x FROM a JOIN b ON a.i = b.i"
    >>> unused_join(read_query(sql, "postgres")).message
    'b is joined and not used.'
    >>> unused_join(read_query("SELECT a.x, b.y FROM a JOIN b ON a.i = b.i", "postgres"))
    """
    for select in query.selects():
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
