"""Puts right the names that a model invents, where only one real name can be meant.

``regions.region_name`` is ``regions.name``, ``orders.channel_code`` is ``orders.channel``, a column
asked of the wrong table of a join belongs to the one that has it, a column that several joined
tables have is the first one's. Where two names would do, nothing is changed; a number is never
swapped for a name, since the words of both must agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.scope import Scope, traverse_scope

from nl2sql.catalog import Table
from nl2sql.names import quote_name
from nl2sql.types import SchemaContext
from nl2sql.words import split_words

# Words that models append to a column's name without changing what it means.
_EMPTY_WORDS = frozenset({"code", "name", "value", "total", "amount", "number", "text"})


def autocorrect_names(sql: str, context: SchemaContext) -> str | None:
    """The query with tables and columns corrected, or None when nothing could be."""
    try:
        tree = sqlglot.parse_one(sql, dialect=context.dialect)
        changed = _correct_tables(tree, context)
        for scope in traverse_scope(tree):
            changed |= _correct_columns(scope, context)
    except (SqlglotError, RecursionError):
        return None
    return tree.sql(context.dialect, comments=False) if changed else None


def find_column(invented: str, table: Table) -> str | None:
    """The only column of the table that the invented name can mean, or None.

    >>> from nl2sql.catalog import Column
    >>> names = ("region_id", "code", "name", "qty_good")
    >>> regions = Table("hr", "regions", tuple(Column(name, "text") for name in names))
    >>> [find_column(name, regions) for name in ("region_name", "good", "id", "title")]
    ['name', 'qty_good', 'region_id', None]
    """
    words = set(split_words(invented))
    own = set(split_words(table.name))
    graded: dict[int, list[str]] = {}
    for column in table.columns:
        real = set(split_words(column.name))
        if real == words - own or real - own == words:
            graded.setdefault(0, []).append(column.name)
        elif real <= words and words - real <= own | _EMPTY_WORDS and real - _EMPTY_WORDS:
            graded.setdefault(1, []).append(column.name)
        elif words <= real and words:
            graded.setdefault(2, []).append(column.name)
    best = graded[min(graded)] if graded else []
    return best[0] if len(best) == 1 else None


def _correct_tables(tree: exp.Expr, context: SchemaContext) -> bool:
    """Renames tables that differ from one in sight only in plurals and underscores."""
    known = {hit.table.name for hit in context.tables}
    views = {cte.alias for cte in tree.find_all(exp.CTE)}
    changed = False
    for node in tree.find_all(exp.Table):
        if node.name in known or node.name in views:
            continue
        words = split_words(node.name)
        meant = [name for name in known if split_words(name) == words]
        if len(meant) == 1:
            for column in tree.find_all(exp.Column):
                if column.table == node.name:
                    column.set("table", exp.to_identifier(meant[0]))
            node.set("this", exp.to_identifier(meant[0]))
            changed = True
    return changed


def _correct_columns(scope: Scope, context: SchemaContext) -> bool:
    by_name = {hit.table.name: hit.table for hit in context.tables}
    sources = {
        alias: by_name[source.name]
        for alias, source in scope.sources.items()
        if isinstance(source, exp.Table) and source.name in by_name
    }
    if len(sources) < len(scope.sources):
        return False  # a derived table or CTE may well have the column
    projections = scope.expression.args.get("expressions") or ()
    outputs = {each.alias for each in projections if each.alias}
    changed = False
    for column in scope.columns:
        target = _find_target(column, sources, outputs)
        if target is not None:
            alias, name = target
            column.set("table", exp.to_identifier(alias) if alias else None)
            column.set("this", _build_identifier(name, context.dialect))
            changed = True
    return changed


def _find_target(
    column: exp.Column, sources: Mapping[str, Table], outputs: Iterable[str]
) -> tuple[str, str] | None:
    """(alias, column) that is meant, or None when it is right or cannot be told."""
    asked, name = column.table, column.name
    owners = [alias for alias, table in sources.items() if table.column(name)]
    if asked and asked not in sources:
        return None
    if asked in owners or (not asked and (len(owners) == 1 or name in outputs)):
        return None
    if owners:
        # Asked of the wrong table, or ambiguous: joined columns of one name are mostly equal.
        return (owners[0], name) if not asked or len(owners) == 1 else None
    order = [asked, *(alias for alias in sources if alias != asked)] if asked else list(sources)
    if asked and (meant := find_column(name, sources[asked])):
        return asked, meant
    found = [
        (alias, meant)
        for alias in order
        if alias != asked and (meant := find_column(name, sources[alias]))
    ]
    return found[0] if len(found) == 1 else None


def _build_identifier(name: str, dialect: str) -> exp.Identifier:
    return exp.to_identifier(name, quoted=quote_name(name, dialect) != name)
