"""Replaces views by their queries, so that the rules of the tables in them apply.

The owner of the database wrote the view, so its functions are not checked here; each of its tables
is.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp
from sqlglot.errors import SqlglotError

from execution.allowlists import load_allowlist
from execution.guard_dialects import parse_statements, render_sql
from execution.name_resolution.scopes import NameResolver, Resolution, Source, Unresolved
from execution.name_resolution.walk import resolve_names
from execution.policies.grouping import complete_groups
from execution.policies.wrappers import Wrapper
from execution.postgres.meaning import check_meaning
from execution.postgres.second_check import calls_own
from execution.postgres.trees import parse_statement
from nl2sql.catalog import Table
from nl2sql.sql.nodes import find_all
from nl2sql.types import Violation


def expand_view(
    view: Table, resolver: NameResolver, wrap: Callable[[Source], Wrapper]
) -> tuple[str, list[Wrapper]]:
    """The view's query over wrappers, with slots, and the wrappers.

    Raises Unresolved if it cannot be read, or reads what ``resolver`` does not show.
    """
    tree, found = _read_query(view, resolver)
    wrappers: list[Wrapper] = []
    for node, _, source in found.tables:
        wrapper = wrap(source)
        replace_table(node, wrapper.text)
        wrappers.append(wrapper)
    complete_groups(found, resolver)
    return render_sql(tree, resolver.dialect), wrappers


def list_tables(view: Table, resolver: NameResolver) -> list[str]:
    """The tables that the view reads; none if it reads, or may read, what ``resolver`` hides."""
    try:
        tree, found = _read_query(view, resolver)
    except Unresolved:
        return []
    allowed = load_allowlist(resolver.dialect)
    # A function of one's own may read anything, also as an operator or a cast.
    if resolver.dialect == "postgres":
        own = calls_own(view.definition, allowed)
    else:
        calls = (call.name.lower() for call in tree.find_all(exp.Anonymous))
        own = not allowed.functions.issuperset(calls)
    return [] if own else [table.qualified for _, table, _ in found.tables]


def _read_query(view: Table, resolver: NameResolver) -> tuple[exp.Query, Resolution]:
    name = view.qualified
    try:
        statements = parse_statements(view.definition, resolver.dialect)
    except (SqlglotError, RecursionError) as error:
        raise Unresolved(
            "unparsable", name, f"The query of the view {name} cannot be read."
        ) from error
    if len(statements) != 1 or not isinstance(tree := statements[0], exp.Query):
        raise Unresolved("unparsable", name, f"The view {name} is not one query.")
    found = resolve_names(tree, list(find_all(tree, exp.Expr)), resolver)
    if any(table.qualified == name for _, table, _ in found.tables):
        raise Unresolved("unexplained_table", name, f"The view {name} reads itself.")
    if resolver.dialect == "postgres":
        for node, table, _ in found.tables:
            qualify_table(node, table)
        _check_meaning(view, render_sql(tree, resolver.dialect), resolver)
    return tree, found


def _check_meaning(view: Table, text: str, resolver: NameResolver) -> None:
    """Raises Unresolved unless ``text`` means to PostgreSQL what the view does."""
    tree = parse_statement(text)
    if isinstance(tree, Violation) or check_meaning(
        view.definition, tree.stmt.select_stmt, resolver.catalog, lambda _: ""
    ):
        name = view.qualified
        raise Unresolved("reads_differently", name, f"The query of the view {name} cannot be read.")


def qualify_table(node: exp.Table, table: Table) -> None:
    """Qualifies the table's name, in place; an alias keeps the name that the query uses."""
    node.set("alias", _build_alias(node))
    node.set("this", exp.to_identifier(table.name, quoted=True))
    node.set("db", exp.to_identifier(table.schema, quoted=True))


def replace_table(node: exp.Table, text: str) -> None:
    """Replaces a table by a derived table with the query ``text``, under the same name."""
    derived = exp.Subquery(this=exp.Var(this=text), alias=_build_alias(node))
    joins = node.args.get("joins")
    node.replace(exp.Table(this=derived, joins=joins) if joins else derived)


def _build_alias(node: exp.Table) -> exp.TableAlias:
    """The table's alias, or one that is its name in the spelling of the rest of the query."""
    alias: exp.TableAlias = node.args.get("alias") or exp.TableAlias()
    if not alias.args.get("this"):
        alias.set("this", node.this.copy())
    return alias
