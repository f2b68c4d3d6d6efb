"""Views: the query of a view in its place, so that the rules of the tables in it hold.

A view's query was written by whoever owns the database, so its functions are not judged here; its
tables are, each of them.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp
from sqlglot.errors import SqlglotError

from execution.dialects import list_nodes, parse_statements, render_sql
from execution.name_resolution.resolver import NameResolver
from execution.name_resolution.scopes import Source, Unresolved
from execution.name_resolution.walk import resolve_names
from execution.parsing.comments import strip_comments
from execution.policies.grouping import complete_group
from execution.policies.wrappers import Wrapper
from nl2sql.catalog import Table


def expand_view(
    view: Table, resolver: NameResolver, wrap: Callable[[Source], Wrapper]
) -> tuple[str, list[Wrapper]]:
    """The view's query over wrappers, with slots, and the wrappers.

    Raises Unresolved when it cannot be read, or reads what ``resolver`` does not show.
    """
    name = view.qualified
    try:
        query = strip_comments(view.definition, resolver.dialect)
        statements = parse_statements(query, resolver.dialect)
    except (SqlglotError, RecursionError) as error:
        raise Unresolved(
            "unparsable", name, f"The query of the view {name} cannot be read."
        ) from error
    if len(statements) != 1 or not isinstance(tree := statements[0], exp.Query):
        raise Unresolved("unparsable", name, f"The view {name} is not one query.")
    found = resolve_names(tree, list_nodes(tree), resolver)
    wrappers: list[Wrapper] = []
    for node, table, source in found.tables:
        if table.qualified == name:
            raise Unresolved("unexplained_table", name, f"The view {name} reads itself.")
        wrapper = wrap(source)
        replace_table(node, wrapper.text)
        wrappers.append(wrapper)
    if resolver.dialect == "postgres":
        for group in found.groups:
            complete_group(group, resolver)
    return render_sql(tree, resolver.dialect), wrappers


def replace_table(node: exp.Table, text: str) -> None:
    """Puts a derived table with the query ``text`` in the place of a table, under its name."""
    alias = node.args.get("alias") or exp.TableAlias()
    if not alias.args.get("this"):
        # The name of the table, in the spelling that the rest of the query uses.
        alias.set("this", node.this.copy())
    derived = exp.Subquery(this=exp.Var(this=text), alias=alias)
    joins = node.args.get("joins")
    node.replace(exp.Table(this=derived, joins=joins) if joins else derived)
