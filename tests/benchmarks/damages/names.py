"""Names that do not exist, or belong to another table."""

from __future__ import annotations

import re
from random import Random

from sqlglot import exp

from nl2sql.words import fold_plural, split_words
from repair.autocorrect.table_lookup import TableLookup
from tests.benchmarks.damages.places import list_owned, list_qualified, write_query

_NO_ALIAS = "T9"


def wrong_table(tree: exp.Expr, visible: TableLookup, random: Random) -> str | None:
    """``c.country`` → ``o.country``: another table of the same FROM, which lacks the column."""
    places = [
        (column, other)
        for column, source, level in list_qualified(tree, visible)
        for other in level.sources.values()
        if other is not source and other.table and not other.has(visible.spell(column.this))
    ]
    if not places:
        return None
    column, other = random.choice(places)
    column.set("table", other.identifier.copy())
    return write_query(tree, visible)


def lost_alias(tree: exp.Expr, visible: TableLookup, random: Random) -> str | None:
    """``FROM orders AS o`` → ``FROM orders``, while columns are still qualified by ``o``."""
    named = [table for table in tree.find_all(exp.Table) if table.alias]
    if not named:
        return None
    random.choice(named).set("alias", None)
    return write_query(tree, visible)


def wrong_alias(tree: exp.Expr, visible: TableLookup, random: Random) -> str | None:
    """``c.country`` → ``T9.country``, an alias that does not exist."""
    columns = [column for column, _, _ in list_qualified(tree, visible)]
    if not columns:
        return None
    random.choice(columns).set("table", exp.to_identifier(_NO_ALIAS))
    return write_query(tree, visible)


def bare_column(tree: exp.Expr, visible: TableLookup, random: Random) -> str | None:
    """``o.id`` → ``id``, which the other table has too."""
    columns = [
        column
        for column, _, level in list_qualified(tree, visible)
        if len(level.owners(visible.spell(column.this))) > 1
    ]
    if not columns:
        return None
    random.choice(columns).set("table", None)
    return write_query(tree, visible)


def plural_table(tree: exp.Expr, visible: TableLookup, random: Random) -> str | None:
    """``customers`` → ``customer``, or the other way round."""
    tables = [table for table in tree.find_all(exp.Table) if visible.find_table(table)]
    if not tables:
        return None
    table = random.choice(tables)
    return _rename(tree, table.name, _turn_number(table.name), visible, exp.Table)


def plural_column(tree: exp.Expr, visible: TableLookup, random: Random) -> str | None:
    """``ages`` → ``age``, or the other way round."""
    name = _choose_column(tree, visible, random)
    return _rename(tree, name, _turn_number(name), visible, exp.Column) if name else None


def respelled_column(tree: exp.Expr, visible: TableLookup, random: Random) -> str | None:
    """``OrderDate`` → ``order_date``, ``order_date`` → ``OrderDate`` or ``orderdate``."""
    name = _choose_column(tree, visible, random)
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)
    if len(words) < 2:
        return None
    snake = "_".join(word.lower() for word in words)
    camel = "".join(word.capitalize() for word in words)
    spelled = snake if snake != name.lower() else random.choice((camel, camel.lower()))
    return _rename(tree, name, spelled, visible, exp.Column)


def table_word_added(tree: exp.Expr, visible: TableLookup, random: Random) -> str | None:
    """``customers.name`` → ``customers.customer_name``."""
    places = [
        (column, f"{fold_plural(source.table.name)}_{column.name}")
        for column, source, _ in list_owned(tree, visible)
        if source.table is not None
    ]
    if not places:
        return None
    column, name = random.choice(places)
    return _rename(tree, column.name, name, visible, exp.Column)


def table_word_lost(tree: exp.Expr, visible: TableLookup, random: Random) -> str | None:
    """``customers.customer_name`` → ``customers.name``."""
    places = []
    for column, source, _ in list_owned(tree, visible):
        own = set(split_words(source.table.name)) if source.table is not None else set()
        kept = [word for word in column.name.split("_") if not set(split_words(word)) & own]
        if 0 < len(kept) < len(column.name.split("_")):
            places.append((column.name, "_".join(kept)))
    return _rename(tree, *random.choice(places), visible, exp.Column) if places else None


def word_added(tree: exp.Expr, visible: TableLookup, random: Random) -> str | None:
    """``status`` → ``status_code``."""
    name = _choose_column(tree, visible, random)
    added = random.choice(("name", "code", "value", "number"))
    return _rename(tree, name, f"{name}_{added}", visible, exp.Column) if name else None


def misspelled_column(tree: exp.Expr, visible: TableLookup, random: Random) -> str | None:
    """``country`` → ``contry``: one letter less."""
    name = _choose_column(tree, visible, random)
    if len(name) < 5:
        return None
    at = random.randrange(1, len(name) - 1)
    return _rename(tree, name, name[:at] + name[at + 1 :], visible, exp.Column)


def quoted_upper(tree: exp.Expr, visible: TableLookup, random: Random) -> str | None:
    """``country`` → ``"Country"``, another name if quoted names keep their case."""
    name = _choose_column(tree, visible, random)
    if not name or visible.dialect == "sqlite":
        return None
    return _rename(tree, name, name.capitalize(), visible, exp.Column, quoted=True)


def _choose_column(tree: exp.Expr, visible: TableLookup, random: Random) -> str:
    """The name of a column that belongs to a table; empty if there is none."""
    names = sorted({column.name for column, _, _ in list_owned(tree, visible)})
    return random.choice(names) if names else ""


def _rename(
    tree: exp.Expr,
    old: str,
    new: str,
    visible: TableLookup,
    kind: type[exp.Expr],
    *,
    quoted: bool = False,
) -> str | None:
    """Replaces a name throughout the query; None if the new one is another real name."""
    real = {visible.fold(table.name) for table in visible.tables} | {
        name for table in visible.tables for name in visible.list_columns(table)
    }
    if new == old or (visible.fold(new) in real and not quoted):
        return None
    for node in tree.find_all(kind):
        if node.name.lower() == old.lower():
            node.set("this", exp.to_identifier(new, quoted=quoted or None))
    if kind is exp.Table:
        for column in tree.find_all(exp.Column):
            if column.table.lower() == old.lower():
                column.set("table", exp.to_identifier(new))
    return write_query(tree, visible)


def _turn_number(name: str) -> str:
    single = fold_plural(name)
    return single if single != name else f"{name}s"
