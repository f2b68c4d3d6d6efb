"""Names that the database does not have, if only one real name can be meant.

Differences of case, spaces and underscores; invented, abbreviated and misspelled words; prefixes
that all columns of a table have. If two names fit, nothing is changed."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile

from sqlglot import exp

from nl2sql.catalog import Table
from nl2sql.sql.column_kinds import find_kind
from nl2sql.sql.nodes import find_all
from nl2sql.sql.scopes import list_sources
from nl2sql.words import split_words
from repair.autocorrect.select_scopes import (
    SelectScope,
    SelectSource,
    compares_itself,
    list_faults,
    point_at,
)
from repair.autocorrect.table_lookup import TableLookup


def spelled_tables(scope: SelectScope) -> bool:
    """``FROM "Customers"`` → ``FROM customers``, ``OrderLines`` → ``order_lines``."""
    visible = scope.visible
    names = {visible.fold(table.name): table.name for table in visible.tables}
    changed = False
    for source in list_sources(scope.select, visible.spell):
        if (
            (table := source.table) is not None
            and visible.find_table(table) is None
            and (meant := _find_alike(table.name, names))
        ):
            _rename_table(scope.select.root(), table, names[meant], visible)
            changed = True
    return changed


def spelled_names(scope: SelectScope) -> bool:
    """``"Country"`` → ``country``, ``loyalty_tier`` → ``"Loyalty Tier"``."""
    visible, changed = scope.visible, False
    for column, name in list_faults(scope, "owner", "column"):
        qualifier = column.args.get("table")
        sources = (
            [scope.find_source(visible.spell(qualifier))]
            if qualifier is not None
            else list(scope.sources.values())
        )
        found = [
            (source, meant)
            for source in sources
            if source is not None
            and source.table is not None
            and (meant := _find_alike(name, visible.list_columns(source.table)))
        ]
        if len(found) == 1:
            point_at(column, *found[0], visible)
            changed = True
    return changed


def _rename_table(tree: exp.Expr, node: exp.Table, name: str, visible: TableLookup) -> None:
    """Renames the table, and in columns the qualifier with its old name."""
    if not node.alias:
        old = visible.spell(node.this)
        for column in find_all(tree, exp.Column):
            qualifier = column.args.get("table")
            if qualifier is not None and visible.spell(qualifier) == old:
                column.set("table", visible.build_identifier(name))
    node.set("this", visible.build_identifier(name))
    node.set("db", None)


def _find_alike(name: str, names: Iterable[str]) -> str:
    alike = [known for known in names if _squeeze(known) == _squeeze(name)]
    return alike[0] if len(alike) == 1 else ""


def _squeeze(name: str) -> str:
    """
    >>> _squeeze("Loyalty Tier")
    'loyaltytier'
    """
    return "".join(sign for sign in name.casefold() if sign.isalnum())


_SHORTEST = 3
# With so many common letters, "eliminated" and "elimination" count as one word.
_STEM = 6


def are_alike(invented: str, real: str) -> bool:
    """True if each word of one name abbreviates or misspells that of the other.

    >>> are_alike("org_id", "organisation_id"), are_alike("org_name", "organisation_id")
    (True, False)
    >>> are_alike("organization", "organisation"), are_alike("eliminated_move", "elimination_move")
    (True, True)
    """
    left, right = split_words(invented), split_words(real)
    return len(left) == len(right) and all(map(_are_one_word, left, right))


def _are_one_word(left: str, right: str) -> bool:
    common = sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False))
    )
    is_abbreviation = common >= _SHORTEST and common in (len(left), len(right))
    return left == right or is_abbreviation or common >= _STEM


# Words that models append to a column's name without changing its meaning.
_EMPTY_WORDS = frozenset({"code", "name", "value", "total", "amount", "number", "text"})


def invented_columns(scope: SelectScope) -> bool:
    """Replaces them, by a column of the named table or else of the other joined tables."""
    visible, changed = scope.visible, False
    for column, _ in list_faults(scope, "owner", "column"):
        if found := _find_column(column, scope):
            source, name = found[0], visible.fold(found[1])
            if not compares_itself(column, source, name, visible):
                point_at(column, source, name, visible)
                changed = True
    return changed


def find_column(invented: str, table: Table) -> str | None:
    """The only column of the table that the invented name can mean, or None.

    >>> from nl2sql.catalog import Column
    >>> names = ("region_id", "code", "name", "qty_good")
    >>> regions = Table("hr", "regions", tuple(Column(name, "text") for name in names))
    >>> [find_column(name, regions) for name in ("region_name", "good", "id", "nam", "title")]
    ['name', 'qty_good', 'region_id', 'name', None]
    """
    words = set(split_words(invented))
    own = set(split_words(table.name))
    graded: dict[int, list[str]] = {}
    for column in table.columns:
        real = set(split_words(column.name))
        if real == words - own or real - own == words or are_alike(invented, column.name):
            graded.setdefault(0, []).append(column.name)
        elif real <= words and words - real <= own | _EMPTY_WORDS and real - _EMPTY_WORDS:
            graded.setdefault(1, []).append(column.name)
        elif words <= real and words:
            graded.setdefault(2, []).append(column.name)
    best = graded[min(graded)] if graded else []
    return best[0] if len(best) == 1 else None


def _find_column(column: exp.Column, scope: SelectScope) -> tuple[SelectSource, str] | None:
    """The only column of a joined table that can be meant; None if a source is unknown."""
    if any(source.table is None for source in scope.sources.values()):
        return None
    asked = column.args.get("table")
    first = scope.sources.get(scope.visible.spell(asked)) if asked is not None else None
    if first and first.table and (name := find_column(column.name, first.table)):
        return first, name
    found = [
        (source, name)
        for source, table in scope.list_tables()
        if source is not first and (name := find_column(column.name, table))
    ]
    return found[0] if len(found) == 1 else None


# The units that models invent columns for, with SQLite's formats of them.
_DATE_PARTS = {"year": "%Y", "month": "%m"}
# Words that say only that a column is a date.
_DATE_WORDS = frozenset({"dt", "date", "day", "time", "timestamp", "at", "on"})


def invented_date_parts(scope: SelectScope) -> bool:
    """Makes ``fiscal_year`` of invoices that have only a date ``EXTRACT(YEAR FROM invoices.dt)``.

    The date is the table's only one, or the only one that is named after the table or not at all.
    """
    changed = False
    for column, _ in list_faults(scope, "owner", "column"):
        unit = (split_words(column.name) or [""])[-1]
        if date := _find_date(column, scope) if unit in _DATE_PARTS else None:
            part = build_date_part(date, unit, scope.visible.dialect)
            is_output = column.arg_key == "expressions" and column.parent is scope.select
            column.replace(exp.alias_(part, column.name) if is_output else part)
            changed = True
    return changed


def build_date_part(date: exp.Column, unit: str, dialect: str) -> exp.Expr:
    """The year or month of a date, as a number."""
    if dialect != "sqlite":
        return exp.Extract(this=exp.var(unit.upper()), expression=date)
    text = exp.func("STRFTIME", exp.Literal.string(_DATE_PARTS[unit]), date, dialect=dialect)
    return exp.cast(text, "INTEGER")


def _find_date(column: exp.Column, scope: SelectScope) -> exp.Column | None:
    """The date of the table that the column names, or of the only joined table that has one."""
    named, own = scope.find_named_table(column), column.copy()
    dates = [
        (source, name)
        for source, table in scope.list_tables()
        if named in (None, table) and (name := _find_own_date(table, scope.visible.dialect))
    ]
    if len(dates) != 1:
        return None
    source, name = dates[0]
    point_at(own, source, scope.visible.fold(name), scope.visible)
    return own


def _find_own_date(table: Table, dialect: str) -> str:
    dates = [
        column.name
        for column in table.columns
        if find_kind(column.type, dialect) in ("date", "timestamp")
    ]
    own = set(split_words(table.name))
    plain = [name for name in dates if set(split_words(name)) <= own | _DATE_WORDS]
    found = plain if len(dates) > 1 else dates
    return found[0] if len(found) == 1 else ""
