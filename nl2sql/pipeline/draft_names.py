"""Checks whether a draft query names anything that retrieval has not found yet."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.sql.parsing import find_tree
from nl2sql.types import SchemaContext


def has_new_names(draft: str, context: SchemaContext) -> bool:
    """True if a table or column of ``draft`` is not in the context, or it does not parse.

    Names are compared without case. CTEs and aliases of the draft are not new names.
    """
    if (tree := find_tree(draft, context.dialect)) is None:
        return True
    tables, columns = set(), set()
    for hit in context.tables:
        tables |= {hit.table.name.lower(), hit.table.qualified.lower()}
        columns |= {column.name.lower() for column in hit.table.columns}
    tables |= {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    columns |= {alias.alias.lower() for alias in tree.find_all(exp.Alias)}
    columns |= {
        column.name.lower() for alias in tree.find_all(exp.TableAlias) for column in alias.columns
    }
    named = (
        ".".join(filter(None, (table.db.lower(), table.name.lower())))
        for table in tree.find_all(exp.Table)
    )
    return any(name not in tables for name in named) or any(
        not isinstance(column.this, exp.Star) and column.name.lower() not in columns
        for column in tree.find_all(exp.Column)
    )
