"""Whitelists: the names that may replace a name that does not exist.

For a column these are the columns of the table that was meant and of its neighbours over keys, for
a table the visible tables, the most similar first. A nearly equal name is replaced at once. A name
of another kind (a name for a number, an id for a name) is never used by rule: it is marked in the
list for the model, and a repair that uses it is reported as a risk.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from sqlglot import exp
from sqlglot.errors import SqlglotError

from nl2sql.catalog import Table
from nl2sql.sql.names import quote_name
from nl2sql.sql.nodes import find_all
from nl2sql.sql.parsing import read_tree
from nl2sql.sql.scopes import name_ctes
from nl2sql.types import SchemaContext
from nl2sql.words import split_words
from repair.autocorrect.select_scopes import (
    SelectScope,
    find_clause,
    list_faults,
    point_at,
    read_scopes,
)
from repair.autocorrect.table_lookup import TableLookup
from repair.corrected import MOST_CHARS

# The least similarity of a typing error: below it, half of the swaps in recorded candidates were
# wrong.
_ALIKE = 0.85
# The least difference in similarity between the best and the second best.
_MARGIN = 0.1
_LONGEST_LIST = 12

# Kind of a column → words of names that indicate it.
_KINDS = {
    word: kind
    for kind, words in {
        "id": "id uid uuid key",
        "number": "number no nr num count qty quantity age size",
        "code": "code symbol abbreviation iso",
        "name": "name title label description desc",
        "date": "date dt day month year time at timestamp",
        "amount": "amount amt price cost total sum salary revenue fee weight",
    }.items()
    for word in words.split()
}


@dataclass(frozen=True, slots=True)
class PermittedColumn:
    """A column that may be meant; a risky one is of another kind than the name in the query."""

    table: Table
    column: str
    similarity: float
    is_risky: bool


@dataclass(frozen=True, slots=True)
class Whitelist:
    """One name of the query, as written, and the names that may be meant, best first."""

    name: str
    columns: tuple[PermittedColumn, ...] = ()
    tables: tuple[Table, ...] = ()


def list_allowed(sql: str, context: SchemaContext) -> tuple[Whitelist, ...]:
    """One whitelist for each unknown name; none if the query does not parse or is too long."""
    if len(sql) > MOST_CHARS:
        return ()
    visible = TableLookup(context)
    try:
        tree = read_tree(sql, context.dialect)
        lists = {
            node.name: Whitelist(node.name, tables=_rank_tables(node.name, visible))
            for node in find_all(tree, exp.Table)
            if isinstance(node.this, exp.Identifier) and _is_unknown(node, tree, visible)
        }
        for scope in read_scopes(tree, visible):
            for column, _ in list_faults(scope, "owner", "column", "qualifier"):
                name = column.sql(context.dialect)
                lists[name] = Whitelist(name, _rank_columns(column, scope))
    except (SqlglotError, RecursionError):
        return ()
    return tuple(lists.values())


def describe_allowed(sql: str, context: SchemaContext) -> tuple[str, ...]:
    """One line for the model for each unknown name: the only names that may replace it."""
    lines = []
    for whitelist in list_allowed(sql, context):
        short = dict(zip((hit.table for hit in context.tables), context.names, strict=True))
        if whitelist.tables:
            names = ", ".join(short[table] for table in whitelist.tables[:_LONGEST_LIST])
            lines.append(f"There is no table {whitelist.name}. Only these may be used: {names}.")
            continue
        names = ", ".join(
            f"{short[column.table]}.{quote_name(column.column, context.dialect)}"
            + (" (another kind of value)" if column.is_risky else "")
            for column in whitelist.columns[:_LONGEST_LIST]
        )
        lines.append(f"There is no column {whitelist.name}. Only these may be used: {names}.")
    return tuple(lines)


def swapped_names(scope: SelectScope) -> bool:
    """Replaces a column by the only joined column with a nearly equal name of the same kind."""
    visible, changed = scope.visible, False
    for column, _ in list_faults(scope, "owner", "column"):
        if find_clause(column) == "joins":
            continue
        joined = _rank_columns(column, scope, only_joined=True)
        ranked = sorted(joined, key=lambda allowed: -allowed.similarity)
        if not ranked or ranked[0].similarity < _ALIKE or ranked[0].is_risky:
            continue
        if len(ranked) > 1 and ranked[1].similarity > ranked[0].similarity - _MARGIN:
            continue
        sources = [source for source, table in scope.list_tables() if table is ranked[0].table]
        if len(sources) == 1:
            point_at(column, sources[0], visible.fold(ranked[0].column), visible)
            changed = True
    return changed


def find_risks(before: str, after: str, dialect: str) -> tuple[str, ...]:
    """The columns of ``before`` that were replaced by ones of another kind, as ``old → new``.

    >>> find_risks("SELECT account_number FROM t", "SELECT account_name FROM t", "postgres")
    ('account_number → account_name',)
    >>> find_risks("SELECT acount_name FROM t", "SELECT account_name FROM t", "postgres")
    ()
    """
    old, new = _name_columns(before, dialect), _name_columns(after, dialect)
    return tuple(
        f"{gone} → {come}"
        for gone in old
        if gone not in new
        for come in new
        if come not in old and is_risky(gone, come) and _similarity(gone, come) > 0.4
    )


def is_risky(asked: str, real: str) -> bool:
    """True if both names indicate a kind, and the kinds differ.

    >>> is_risky("customer_name", "customer_number"), is_risky("id", "title"), is_risky("a", "id")
    (True, True, False)
    """
    left, right = _find_kinds(asked), _find_kinds(real)
    return bool(left and right) and not left & right


def _find_kinds(name: str) -> frozenset[str]:
    return frozenset(_KINDS[word] for word in split_words(name) if word in _KINDS)


def _rank_columns(
    column: exp.Column, scope: SelectScope, *, only_joined: bool = False
) -> tuple[PermittedColumn, ...]:
    visible = scope.visible
    named = scope.find_named_table(column)
    joined = [table for _, table in scope.list_tables()]
    tables = [named] if named is not None else joined
    around = [neighbour.table for table in tables for neighbour in visible.list_neighbours(table)]
    ranked = [
        PermittedColumn(
            table,
            real.name,
            _similarity(column.name, real.name, table.name),
            is_risky(column.name, real.name),
        )
        for table in dict.fromkeys([*tables, *around])
        if table in joined or not only_joined
        for real in table.columns
    ]
    kinds = _find_kinds(column.name)
    return tuple(
        sorted(
            ranked,
            key=lambda allowed: (
                allowed.is_risky,
                not kinds & _find_kinds(allowed.column),
                -allowed.similarity,
            ),
        )
    )


def _rank_tables(name: str, visible: TableLookup) -> tuple[Table, ...]:
    return tuple(sorted(visible.tables, key=lambda table: -_similarity(name, table.name)))


# Cached: the samples of one question invent the same names.
@lru_cache(4096)
def _similarity(asked: str, real: str, owner: str = "") -> float:
    """The similarity of two names, from 0 to 1; words that repeat the table's name count half."""
    left, right = "_".join(split_words(asked)), "_".join(split_words(real))
    plain = SequenceMatcher(None, left, right).ratio()
    own = set(split_words(owner))
    short = "_".join(word for word in split_words(asked) if word not in own)
    return max(plain, 0.95 * SequenceMatcher(None, short, right).ratio() if short else 0.0)


def _is_unknown(node: exp.Table, tree: exp.Expr, visible: TableLookup) -> bool:
    is_cte = visible.spell(node.this) in name_ctes(tree, visible.spell)
    return visible.find_table(node) is None and not is_cte


def _name_columns(sql: str, dialect: str) -> list[str]:
    try:
        tree = read_tree(sql, dialect)
    except (SqlglotError, RecursionError):
        return []
    return list(dict.fromkeys(column.name.lower() for column in find_all(tree, exp.Column)))
