"""Keeps GROUP BY on a primary key valid where a derived table has taken the table's place.

PostgreSQL lets a query that groups by a table's primary key name the table's other columns bare: it
knows that each group has one value of them. Of a derived table it knows no key, so the columns that
the query uses are put into the GROUP BY. The groups stay the same.
"""

from __future__ import annotations

import re

from sqlglot import exp

from execution.name_resolution.resolver import NameResolver
from execution.name_resolution.scopes import Group

# What groups in several ways at once, and stands among the columns.
_SEVERAL = (exp.Cube, exp.GroupingSets, exp.Rollup)
# No query has more outputs, and Python reads no number of thousands of digits.
_POSITION = re.compile(r"[0-9]{1,9}")


def complete_group(group: Group, resolver: NameResolver) -> None:
    """Adds what follows from primary keys to the GROUP BY, in place."""
    clause = group.select.args["group"]
    if any(isinstance(each, _SEVERAL) for each in clause.expressions):
        # Not every row of the result has a value of the key then.
        return
    grouped = [_find_output(each, group.select) for each in clause.expressions]
    columns = [each for each in grouped if isinstance(each, exp.Column)]
    for name, (table, used) in group.used.items():
        named = {
            resolver.fold(column.this)
            for column in columns
            if isinstance(column.this, exp.Identifier) and _may_name(column, name, resolver)
        }
        if not table.primary_key or not named.issuperset(table.primary_key):
            continue
        for column in sorted(used - named):
            clause.append(
                "expressions",
                exp.Column(
                    this=exp.to_identifier(column, quoted=True),
                    table=exp.to_identifier(name, quoted=True),
                ),
            )


def _find_output(node: exp.Expr, select: exp.Select) -> exp.Expr:
    """What GROUP BY 2 means."""
    if isinstance(node, exp.Literal) and not node.is_string and _POSITION.fullmatch(node.name):
        at = int(node.name) - 1
        if 0 <= at < len(select.expressions):
            output: exp.Expr = select.expressions[at]
            return output.unalias()
    return node


def _may_name(column: exp.Column, source: str, resolver: NameResolver) -> bool:
    qualifier = column.args.get("table")
    return qualifier is None or resolver.fold(qualifier) == source
