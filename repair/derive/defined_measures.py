"""The measures that the question names, computed as the semantic layer defines them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from nl2sql.sql.nodes import find_all, list_conjuncts
from nl2sql.sql.parsing import parse_one
from nl2sql.types import Definition
from repair.autocorrect.select_scopes import SelectScope, SelectSource
from repair.derive.original import Original, add_condition
from repair.derive.outputs import asked_rounding


def defined_measures(original: Original) -> Iterator[exp.Expr]:
    """``SELECT sum(amt) FROM invoices`` becomes the query that defines "revenue".

    The first query is the original with the conditions that it leaves out of the named measures and
    filters. The others are written anew: with the named dimensions as groups and the named filters
    as conditions; the second of them also has the conditions of the original about the same tables.
    These only if the original lacks a part of a definition, the measures are over the same rows,
    and the planned join reaches the other tables without repeating them.
    """
    yield from _add_conditions(original)
    for query in _list_queries(original):
        composed = Original(query, original.visible, original.question)
        yield next(asked_rounding(composed), query)


def _add_conditions(original: Original) -> Iterator[exp.Expr]:
    """The original with each condition on one of its tables of whose columns it mentions none."""
    draft = original.draft()
    for definition in original.visible.definitions:
        if not definition.condition or len(definition.tables) > 1:
            continue
        places = [
            (scope, source)
            for scope in original.scopes
            for source in scope.sources.values()
            if source.table is not None and source.table.qualified == definition.tables[0]
        ]
        if len(places) != 1:
            continue
        scope, source = places[0]
        if definition.expression and not _computes(scope, source, definition, original):
            continue
        condition = parse_one(definition.condition, original.visible.dialect)
        columns = list(find_all(condition, exp.Column))
        mentioned = {column.name.lower() for column in original.uses.get(id(source), ())}
        if any(column.name.lower() in mentioned for column in columns):
            continue
        for column in columns:
            column.set("table", source.identifier.copy())
        for part in list_conjuncts(condition):
            add_condition(draft.of(scope.select), _enclose(part.copy()))
    if draft.tree != original.tree:
        yield draft.tree


def _computes(
    scope: SelectScope, source: SelectSource, definition: Definition, original: Original
) -> bool:
    """Whether it has the aggregates of the measure, and its columns, whatever it makes of them."""
    expression = parse_one(definition.expression, original.visible.dialect)
    wanted = {type(node) for node in find_all(expression, exp.AggFunc)}
    found = {type(node) for node in find_all(scope.select, exp.AggFunc)}
    needed = {column.name.lower() for column in find_all(expression, exp.Column)}
    used = {column.name.lower() for column in original.uses.get(id(source), ())}
    return bool(wanted) and wanted <= found and needed <= used


def _list_queries(original: Original) -> Iterator[exp.Select]:
    measures = [each for each in original.visible.definitions if each.kind == "measure"]
    if not measures or all(_uses(original, each) for each in original.visible.definitions):
        return
    query = _compose(original, measures)
    if query is None:
        return
    yield query
    narrowed = query.copy()
    for condition in _list_kept(original, original.scopes[0], query):
        add_condition(narrowed, condition)
    if narrowed != query:
        yield narrowed


def _uses(original: Original, definition: Definition) -> bool:
    """Whether one SELECT has the definition's expression and all its conditions."""
    dialect = original.visible.dialect
    wanted = [parse_one(definition.expression, dialect)] if definition.expression else []
    if definition.condition:
        wanted += list_conjuncts(parse_one(definition.condition, dialect))
    kinds = tuple({type(node) for node in wanted})
    written = {_write_bare(node, dialect) for node in wanted}
    return any(
        written <= {_write_bare(node, dialect) for node in find_all(scope.select, *kinds)}
        for scope in original.scopes
    )


def _write_bare(node: exp.Expr, dialect: str) -> str:
    """Its SQL, without the qualifiers of columns."""
    copy = node.copy()
    for column in list(find_all(copy, exp.Column)):
        column.set("table", None)
        column.set("db", None)
    return copy.sql(dialect)


def _compose(original: Original, measures: Sequence[Definition]) -> exp.Select | None:
    visible = original.visible
    joined = _find_joins(original, measures)
    if joined is None:
        return None
    dialect = visible.dialect
    groups = [each for each in visible.definitions if each.kind == "dimension"]
    outputs = ", ".join(each.expression for each in (*groups, *measures))
    query = parse_one(f"SELECT {outputs} {joined}", dialect)
    if not isinstance(query, exp.Select):
        return None
    conditions = dict.fromkeys(each.condition for each in visible.definitions if each.condition)
    for condition in conditions:
        for part in list_conjuncts(parse_one(condition, dialect)):
            add_condition(query, _enclose(part.copy()))
    if groups:
        by = [output.copy() for output in query.expressions[: len(groups)]]
        query.set("group", exp.Group(expressions=by))
    return query


def _find_joins(original: Original, measures: Sequence[Definition]) -> str | None:
    """``FROM … JOIN …`` of the tables of all definitions, in which no row of a measure repeats.

    None if the measures are over different rows, or the planned join has other tables, or reaches
    one against the direction of its key.
    """
    visible = original.visible
    rows = set(measures[0].tables)
    if any(set(measure.tables) != rows for measure in measures):
        return None
    needed = {table for each in visible.definitions for table in each.tables}
    if needed == rows:
        read = parse_one(measures[0].query, visible.dialect)
        parts = [read.args["from_"], *(read.args.get("joins") or ())]
        return " ".join(part.sql(visible.dialect) for part in parts)
    reached, keys = set(rows), list(visible.joins.keys)
    while found := {key.target for key in keys if key.table in reached} - reached:
        reached |= found
    planned = set(visible.joins.tables)
    return visible.joins.skeleton if needed <= planned <= reached else None


def _list_kept(original: Original, scope: SelectScope, query: exp.Select) -> Iterator[exp.Expr]:
    """The original's conditions about tables of the query, under their names there."""
    names = {
        table.qualified: node.alias_or_name
        for node in query.find_all(exp.Table)
        if (table := original.visible.find_table(node)) is not None
    }
    dialect = original.visible.dialect
    known = {part.sql(dialect) for part in _list_conditions(query)}
    for part in _list_conditions(scope.select):
        copy = part.copy()
        columns = list(zip(part.find_all(exp.Column), copy.find_all(exp.Column), strict=True))
        if not columns or part.find(exp.Query) is not None:
            continue
        for column, renamed in columns:
            owner = original.find_owner(column, scope)
            table = owner.table if owner is not None else None
            if table is None or table.qualified not in names:
                break
            renamed.set("table", exp.to_identifier(names[table.qualified]))
            renamed.set("db", None)
        else:
            if copy.sql(dialect) not in known:
                yield _enclose(copy)


def _list_conditions(select: exp.Select) -> list[exp.Expr]:
    where = select.args.get("where")
    return list_conjuncts(where.this) if where is not None else []


def _enclose(condition: exp.Expr) -> exp.Expr:
    return exp.Paren(this=condition) if isinstance(condition, exp.Or) else condition
