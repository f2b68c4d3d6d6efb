"""Groups by a column that a condition has fixed, so that there is one."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.sql.expression_form import list_conjuncts
from nl2sql.types import Finding
from ranking.query import Query


def group_of_one_value(query: Query) -> Finding | None:
    """An error for a single GROUP BY column that WHERE compares with one literal.

    >>> from ranking.query import read_query
    >>> sql = "SELECT channel, count(*) FROM orders WHERE channel = 'WEB' GROUP BY channel"
    >>> group_of_one_value(read_query(sql, "postgres")).message
    'GROUP BY channel gives one group: the condition allows only one value.'
    """
    for select in query.selects():
        group, where = select.args.get("group"), select.args.get("where")
        if group is None or where is None or len(group.expressions) != 1:
            continue
        by = group.expressions[0]
        for part in list_conjuncts(where.this):
            if (
                isinstance(part, exp.EQ)
                and isinstance(part.args["expression"], exp.Literal)
                and isinstance(by, exp.Column)
                and part.this == by
            ):
                text = f"GROUP BY {by.name} gives one group: the condition allows only one value."
                return Finding("group_of_one_value", "error", text)
    return None
