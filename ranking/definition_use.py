"""Which definitions of the semantic layer a candidate uses, and with what it leaves out.

Expressions and conditions are compared by their forms, whatever aliases the candidate has. What is
written differently is not recognised, so a candidate that uses no definition need not be wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from nl2sql.catalog import Table
from nl2sql.sql.expression_form import list_conjuncts, write_form
from nl2sql.types import Definition, SchemaContext
from ranking.query import Query, read_candidate

# Of a long chain of operators, writing each part takes time that grows with the square.
_MOST_COMPARED = 50


@dataclass(frozen=True, slots=True)
class DefinitionUse:
    """How a candidate uses a definition: ``computes`` its expression, without ``missing``.

    ``missing`` are the conditions of the definition that the candidate does not have, and of whose
    columns it mentions none, as SQL; ``is_whole``: it has the expression and all conditions.
    """

    definition: Definition
    computes: bool
    is_whole: bool
    missing: tuple[str, ...] = ()


def find_uses(query: Query, context: SchemaContext) -> tuple[DefinitionUse, ...]:
    """How the candidate uses each definition that the question names."""
    uses = []
    for definition in context.definitions:
        meant = read_candidate(definition.query, context)
        select = meant.outermost() if meant is not None else None
        if meant is not None and select is not None:
            uses.append(_find_use(query, definition, meant, select))
    return tuple(uses)


def _find_use(
    query: Query, definition: Definition, meant: Query, select: exp.Select
) -> DefinitionUse:
    expression = select.expressions[0] if definition.expression else None
    computes = expression is None or _has(query, meant, expression)
    where = select.args.get("where")
    conditions = list_conjuncts(where.this) if where is not None else []
    absent = [part for part in conditions if not _has(query, meant, part)]
    mentioned = {column.name.lower() for column in query.find_all(exp.Column)}
    missing = [
        part.sql(meant.dialect)
        for part in absent
        if mentioned.isdisjoint(column.name.lower() for column in part.find_all(exp.Column))
    ]
    return DefinitionUse(definition, computes, computes and not absent, tuple(missing))


def _has(query: Query, meant: Query, part: exp.Expr) -> bool:
    """Whether the candidate contains an expression of the definition."""
    wanted = _write(meant, part)
    if wanted is None:
        return False
    nodes = query.find_all(type(part))[:_MOST_COMPARED]
    found = (node for node in nodes if _write(query, node) == wanted)
    if next(part.find_all(exp.Column), None) is not None:
        return next(found, None) is not None
    # ``count(*)`` counts the rows of some table.
    tables = set(_list_tables(meant, part))
    return any(tables & set(_list_tables(query, node)) for node in found)


def _write(query: Query, node: exp.Expr) -> str | None:
    def name(column: exp.Column) -> str | None:
        use = query.resolve(column)
        return use.name if use is not None else None

    return write_form(node, name, query.dialect)


def _list_tables(query: Query, node: exp.Expr) -> Iterator[str]:
    select = node.parent_select
    for source in query.sources(select).values() if select is not None else ():
        if isinstance(source, Table):
            yield source.qualified
