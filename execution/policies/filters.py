"""Row filters: a boolean expression over one row of a table, with ``:name`` for attributes.

``region IN :regions`` and ``region = ANY(:regions)`` mean the same and become one node. Subqueries
are not allowed: rows that depend on another table inherit from it instead.
"""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import SqlglotError

from execution.guard_dialects import READERS
from execution.policies.policy_file import Attribute
from nl2sql.catalog import Table
from nl2sql.sql.names import fold_name
from nl2sql.sql.nodes import read_identifier
from nl2sql.sql.parsing import parse_statements

# Nodes that a condition may not contain; the allowlist checks functions and operators.
_FORBIDDEN: dict[type[exp.Expr], str] = {
    exp.Query: "a subquery; let the table inherit from the other one instead",
    exp.Table: "a table",
    exp.Star: "a star",
    exp.AggFunc: "an aggregate; a filter sees one row at a time",
    exp.Window: "a window function; a filter sees one row at a time",
    exp.Parameter: "a parameter; attributes are written :name",
    exp.Command: "a command",
    exp.Alias: "an alias after the condition",
}


def parse_filter(
    text: str, table: Table, attributes: dict[str, Attribute], dialect: str
) -> exp.Expr:
    """Parses the filter into a tree whose columns have the catalog's names.

    An attribute is an ``exp.Placeholder``; membership in a list is an ``exp.In`` with a placeholder
    as ``field``. Raises ValueError with what is wrong with the filter.

    >>> from nl2sql.catalog import Column
    >>> sites = Table("assets", "sites", (Column("region_id", "integer"),))
    >>> regions = {"regions": Attribute(type="integer[]")}
    >>> parse_filter("region_id = ANY(:regions)", sites, regions, "postgres").sql()
    '"region_id" IN :regions'
    """
    try:
        statements = parse_statements(text, READERS[dialect])
    except (SqlglotError, RecursionError) as error:
        raise ValueError(f"is no condition: {str(error).splitlines()[0]}") from error
    if len(statements) != 1 or (tree := statements[0]) is None:
        raise ValueError("is not one condition")
    for node in tree.walk():
        for kind, what in _FORBIDDEN.items():
            if isinstance(node, kind):
                raise ValueError(f"holds {what}")
    # An extra root, so that every node below it can be replaced.
    root = exp.Paren(this=tree)
    for column in list(root.find_all(exp.Column)):
        _settle_column(column, table, dialect)
    _join_lists(root)
    for placeholder in root.find_all(exp.Placeholder):
        _check_attribute(placeholder, attributes)
    condition: exp.Expr = root.this
    return condition


def _settle_column(column: exp.Column, table: Table, dialect: str) -> None:
    if column.table:
        raise ValueError(f"names {column.sql()}; write the column without its table")
    wanted = read_identifier(column.this, dialect)
    names = (known.name for known in table.columns)
    found = next((name for name in names if fold_name(name, dialect) == wanted), None)
    if found is None:
        raise ValueError(f"names the column {column.name}, which {table.qualified} does not have")
    column.set("this", exp.to_identifier(found, quoted=True))


def _join_lists(root: exp.Expr) -> None:
    """Rewrites ``x = ANY(:list)`` and ``x IN (:list)`` as ``x IN :list``, in place."""
    for equation in list(root.find_all(exp.EQ)):
        if isinstance(equation.expression, exp.Any):
            inner = equation.expression.this.unnest()
            if isinstance(inner, exp.Placeholder):
                equation.replace(exp.In(this=equation.this, field=inner))
    for member in root.find_all(exp.In):
        items = member.expressions
        if len(items) == 1 and isinstance(items[0], exp.Placeholder):
            member.set("expressions", None)
            member.set("field", items[0])


def _check_attribute(placeholder: exp.Placeholder, attributes: dict[str, Attribute]) -> None:
    name = placeholder.name
    if name not in attributes:
        known = ", ".join(sorted(attributes)) or "none"
        raise ValueError(f"names the attribute :{name}, which is not declared; declared: {known}")
    is_member = placeholder.arg_key == "field"
    is_list = attributes[name].type.endswith("[]")
    if is_member and not is_list:
        raise ValueError(f"looks for a member of :{name}, which is no list but one value")
    if is_list and not is_member:
        raise ValueError(f"uses the list :{name} as one value; write IN :{name}")
