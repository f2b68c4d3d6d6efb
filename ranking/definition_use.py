"""Which definitions of the semantic layer a candidate uses, and with what it leaves out.

Expressions and conditions are compared by their forms, whatever aliases the candidate has. What is
written differently is not recognised, so a candidate that uses no definition need not be wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from sqlglot import exp

from nl2sql.catalog import Table
from nl2sql.sql.nodes import find_all, list_conjuncts
from nl2sql.sql.normal_form import FormWriter, Rule, UnresolvedForm
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


class _NamedForm(FormWriter):
    """Writes an expression with whole names for columns; the operands of + and * are sorted."""

    def __init__(self, node: exp.Expr, dialect: str, names: Mapping[int, str]) -> None:
        super().__init__(node, dialect)
        self._names = names

    def _column(self, node: exp.Expr, select: exp.Select | None) -> str:
        return self._names[id(node)]

    def _chain(self, node: exp.Expr, select: exp.Select | None) -> str:
        operands = sorted(self._node(each, select) for each in _list_operands(node, type(node)))
        return f"{type(node).__name__}({' '.join(operands)})"

    RULES: ClassVar[dict[type[exp.Expr], Rule]] = {
        **FormWriter.RULES,
        exp.Column: _column,
        exp.Add: _chain,
        exp.Mul: _chain,
    }


def _list_operands(node: exp.Expr, kind: type[exp.Expr]) -> Iterator[exp.Expr]:
    inner = node.unnest()
    if type(inner) is kind:
        yield from _list_operands(inner.this, kind)
        yield from _list_operands(inner.expression, kind)
    else:
        yield inner


def _write(query: Query, node: exp.Expr) -> str | None:
    """The form of an expression, equal for those that differ in aliases and spelling only.

    None if a column is unknown, it contains a query, or it is nested too deeply.
    """
    names: dict[int, str] = {}
    for column in find_all(node, exp.Column):
        if (use := query.resolve(column)) is None:
            return None
        names[id(column)] = use.name
    if next(find_all(node, exp.Query), None) is not None:
        return None
    try:
        return _NamedForm(node, query.dialect, names).write()
    except (UnresolvedForm, RecursionError):
        return None


def _list_tables(query: Query, node: exp.Expr) -> Iterator[str]:
    select = node.parent_select
    for source in query.sources(select).values() if select is not None else ():
        if isinstance(source, Table):
            yield source.qualified
