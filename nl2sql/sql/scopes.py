"""The sources in a SELECT's FROM, their names, and the enclosing SELECT that it sees.

For callers that must accept wrong queries: nothing is raised, and what cannot be resolved is None.
sqlglot's own scopes (``sqlglot.optimizer.scope``) distinguish names by case and refuse duplicate
names. Not for the guard, which resolves names strictly and separately.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from sqlglot import exp

from nl2sql.sql.nodes import find_all, list_selects

Fold: TypeAlias = Callable[[exp.Identifier], str]
"""Folds a name for comparison."""


@dataclass(frozen=True, slots=True)
class QuerySource:
    """One source in FROM: a table of the database, a query, or neither, such as a function.

    ``query`` is that of the derived table or CTE; ``renamed`` holds the column names that the alias
    or the CTE gives. ``bracketed``: it is part of ``(a JOIN b ON …)``.
    """

    identifier: exp.Identifier | None
    table: exp.Table | None = None
    query: exp.Query | None = None
    renamed: tuple[exp.Identifier, ...] = ()
    bracketed: bool = False


def list_sources(select: exp.Select, fold: Fold) -> Iterator[QuerySource]:
    """The sources in FROM, its joins and lateral views, including those of joins in brackets.

    >>> from nl2sql.sql.parsing import parse_one
    >>> tree = parse_one("SELECT 1 FROM a JOIN (b JOIN c ON b.x = c.x) ON a.x = b.x", "postgres")
    >>> [(source.identifier.name, source.bracketed) for source in list_sources(tree, fold_case)]
    [('a', False), ('b', True), ('c', True)]
    """
    for node, bracketed in _list_nodes(select):
        yield _read_source(node, fold, bracketed)


def read_sources(select: exp.Select, fold: Fold) -> dict[str, QuerySource]:
    """The sources by folded name; ``?0``, ``?1`` … for those without one."""
    found: dict[str, QuerySource] = {}
    for source in list_sources(select, fold):
        named = source.identifier
        found[f"?{len(found)}" if named is None else fold(named)] = source
    return found


def find_outer(select: exp.Select) -> exp.Select | None:
    """The enclosing SELECT whose columns ``select`` can use, or None.

    A subquery in FROM has none unless it is LATERAL. A CTE sees what encloses its query, but
    nothing of that query.
    """
    here: exp.Expr = select
    while (parent := here.parent) is not None:
        in_from = isinstance(parent, exp.From) or (
            isinstance(parent, exp.Join) and here.arg_key == "this"
        )
        if in_from and not isinstance(here, exp.Lateral):
            return None
        if isinstance(parent, exp.Select) and not isinstance(here, exp.With):
            return parent
        here = parent
    return None


def find_name(node: exp.Expr) -> exp.Identifier | None:
    """The name by which columns refer to a source in FROM."""
    alias = node.args.get("alias")
    identifier = alias.this if alias is not None else None
    if identifier is None and isinstance(node, exp.Table):
        identifier = node.this
    return identifier if isinstance(identifier, exp.Identifier) else None


def find_cte(table: exp.Table, fold: Fold) -> exp.CTE | None:
    """The nearest CTE that a name in FROM refers to, or None."""
    if table.args.get("db") is not None or not isinstance(table.this, exp.Identifier):
        return None
    name = fold(table.this)
    here: exp.Expr | None = table
    while here is not None:
        with_ = here.args.get("with_")
        for cte in with_.expressions if with_ is not None else ():
            if isinstance(cte, exp.CTE) and fold(cte.args["alias"].this) == name:
                return cte
        here = here.parent
    return None


def name_ctes(tree: exp.Expr, fold: Fold) -> frozenset[str]:
    """The folded names of all CTEs, wherever they are seen."""
    return frozenset(fold(cte.args["alias"].this) for cte in find_all(tree, exp.CTE))


def name_table(column: exp.Column) -> None:
    """Writes its table in place of the alias, if the query says which it is."""
    select = column.find_ancestor(exp.Select)
    sources = read_sources(select, fold_case) if select else {}
    names = [column.table.lower()] if column.table else list(sources)
    source = sources.get(names[0]) if len(names) == 1 else None
    if source and source.table:
        column.set("table", source.table.this.copy())
        column.set("db", source.table.args.get("db"))


def list_outputs(query: exp.Expr) -> list[exp.Expr]:
    """The output expressions of a query; for a UNION, those of its first query."""
    first = next(list_selects(query), None)
    return first.expressions if first is not None else []


def fold_case(identifier: exp.Identifier) -> str:
    """The name in lower case, for callers that ignore case."""
    return identifier.name.lower()


def _read_source(node: exp.Expr, fold: Fold, bracketed: bool) -> QuerySource:
    identifier = find_name(node)
    alias = node.args.get("alias")
    renamed = tuple(alias.args.get("columns") or ()) if alias is not None else ()
    if isinstance(node, exp.Subquery):
        query = node.this if isinstance(node.this, exp.Query) else None
        return QuerySource(identifier, None, query, renamed, bracketed)
    if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
        return QuerySource(identifier, renamed=renamed, bracketed=bracketed)
    cte = find_cte(node, fold)
    if cte is None:
        return QuerySource(identifier, node, None, renamed, bracketed)
    query = cte.this if isinstance(cte.this, exp.Query) else None
    named = tuple(cte.args["alias"].args.get("columns") or ())
    return QuerySource(identifier, None, query, renamed or named, bracketed)


def _list_nodes(select: exp.Select) -> Iterator[tuple[exp.Expr, bool]]:
    start = select.args.get("from_")
    for clause in (*((start,) if start is not None else ()), *(select.args.get("joins") or ())):
        yield from _open(clause.this, False)
    for lateral in select.args.get("laterals") or ():
        yield lateral, False


def _open(node: exp.Expr, bracketed: bool) -> Iterator[tuple[exp.Expr, bool]]:
    """Yields the sources inside brackets; brackets with an alias are one source."""
    inner = node.this
    opens = isinstance(node, exp.Subquery) and isinstance(inner, exp.Table | exp.Subquery)
    if opens and node.args.get("alias") is None:
        yield from _open(inner, True)
        bracketed = True
    else:
        yield node, bracketed
    for join in node.args.get("joins") or ():
        yield from _open(join.this, bracketed)
