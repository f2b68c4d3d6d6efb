"""Answers questions about the database itself: its tables, columns and rows.

A question is recognised by its whole form, in nine languages (``catalog_forms.yaml``). The names in
it are its own words until they are found in the schema; then a query is written that answers it.
Lists of tables and columns are constants of the query, from the part of the catalog that the
principal may see; row counts are read. Like every query it passes the guard, so row
policies apply, and pages, exports and histories need nothing of their own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, cast

from nl2sql.catalog import Catalog, Table
from nl2sql.sql.names import quote_literal
from nl2sql.types import CatalogQuery
from nl2sql.words import drop_accents, fold_text, split_words
from nl2sql.yaml_file import read_packaged
from retrieval.search.keys import find_table

Kind = Literal["tables", "columns", "column", "rows"]

_KINDS: tuple[Kind, ...] = ("tables", "columns", "column", "rows")
# A longer text says more than a form does.
_MOST_CHARS = 200
_SLOT = re.compile(r"\{([a-z]\d?)\}")
_PART = re.compile(r"<([a-z]+)>")


@dataclass(frozen=True, slots=True)
class CatalogRequest:
    """What is asked of the catalog; ``table`` and ``column`` are the question's words, or empty.

    ``means`` holds the question's folded words for the kind. Where the schema has a name with one
    of them, the question means that.
    """

    kind: Kind
    table: str = ""
    column: str = ""
    means: frozenset[str] = frozenset()


def read_request(text: str) -> CatalogRequest | None:
    """The request; None if the whole text has none of the forms.

    >>> read_request("Welche Spalten hat orders?")
    CatalogRequest(kind='columns', table='orders', column='', means=frozenset({'spalten'}))
    >>> read_request("Show me all tables in the restaurant's dining room")
    """
    if len(text) > _MOST_CHARS:
        return None
    forms = _load()
    plain = forms.ends.sub("", forms.starts.sub("", fold_text(text)))
    for kind, form in forms.forms:
        if match := form.fullmatch(plain):
            said = {name[0]: words.strip() for name, words in match.groupdict().items() if words}
            table, column = said.get("t", ""), said.get("c", "")
            if "." in column and not table:
                table, _, column = column.rpartition(".")
            return CatalogRequest(kind, table, column, forms.words[kind] & {*split_words(text)})
    return None


def strip_around(name: str) -> str:
    """The name without articles and the word for a table."""
    words = name.split()
    around = _load().around
    while len(words) > 1 and words[0] in around:
        del words[0]
    while len(words) > 1 and words[-1] in around:
        del words[-1]
    return " ".join(words)


@dataclass(frozen=True, slots=True)
class _CatalogForms:
    forms: Sequence[tuple[Kind, re.Pattern[str]]]
    words: Mapping[Kind, frozenset[str]]
    around: frozenset[str]
    starts: re.Pattern[str]
    ends: re.Pattern[str]


@cache
def _load() -> _CatalogForms:
    loaded = cast("dict[str, Any]", read_packaged(__package__, "catalog_forms.yaml"))
    words, around, polite = loaded.pop("words"), loaded.pop("around"), loaded.pop("polite")
    forms = [
        (kind, form, language["parts"])
        for language in loaded.values()
        for kind in _KINDS
        for form in language.get(kind, ())
    ]
    # A form with a name comes after all without one.
    forms.sort(key=lambda entry: "{" in entry[1])
    return _CatalogForms(
        [(kind, _compile(form, parts)) for kind, form, parts in forms],
        {kind: frozenset(drop_accents(words[kind]).split()) for kind in _KINDS},
        frozenset(drop_accents(around).split()),
        re.compile(rf"^(?:(?:{drop_accents(polite['start'])})(?: |(?<=[请問问])))+"),
        re.compile(rf"(?:(?: |(?=[吗呢]))(?:{drop_accents(polite['end'])}))+$"),
    )


def _compile(form: str, parts: Mapping[str, str]) -> re.Pattern[str]:
    whole = form
    while _PART.search(whole):
        whole = _PART.sub(lambda match: parts[match[1]], whole)
    return re.compile(_SLOT.sub(r"(?P<\1>\\S.*?)", drop_accents(whole)))


Glosses = Sequence[tuple[str, str]]
"""Pairs of ``schema.table`` or ``schema.table.column`` and a description, several for some."""

# The guard reads no longer queries (``nl2sql/sql/parsing.py``); row filters add to them.
_MOST_LISTED = 350
_MOST_COUNTED = 50
_LONGEST_QUERY = 16_000
_LONGEST_TEXT = 200
_SHORTEST_TEXT = 20


def find_tables(request: CatalogRequest, catalog: Catalog) -> tuple[Table, ...]:
    """The tables that the request is about; none if it means something else in this schema.

    That is so if a table or column bears the word that the request would read as its kind, or if
    the table or column that it names does not exist.
    """
    tables: tuple[Table, ...] = catalog.tables
    if request.table:
        table = _resolve(request.table, catalog)
        tables = (table,) if table else ()
    if request.column:
        tables = tuple(table for table in tables if _find_column(table, request.column))
    means = request.means
    if any(_bears(table.name, means) for table in catalog.tables) or any(
        _bears(column.name, means) for table in tables for column in table.columns
    ):
        return ()
    return tables


def write_query(
    request: CatalogRequest, tables: Sequence[Table], catalog: Catalog, glosses: Glosses
) -> CatalogQuery | None:
    """The query over ``tables``; None if there is no table.

    >>> orders = Table("sales", "orders", ())
    >>> shop = Catalog("shop", (orders,), search_path=("sales",))
    >>> write_query(CatalogRequest("rows", "orders"), (orders,), shop, ()).sql
    'SELECT count(*) AS "rows" FROM orders'
    """
    if not tables:
        return None
    if request.kind == "rows":
        return _count_rows(request, tables, catalog)
    if request.kind == "tables":
        listed: _Listed = {
            table.qualified: (table.comment, (_name(table, catalog), str(len(table.columns))))
            for table in tables
        }
        return _list_constants(("table", "columns"), listed, glosses, "tables")
    if request.kind == "columns" and not request.table:
        count = sum(len(table.columns) for table in tables)
        return CatalogQuery(f'SELECT {count} AS "columns"')
    names = (*(("table",) if request.column else ()), "column", "type")
    listed = {
        f"{table.qualified}.{column.name}": (
            column.comment,
            (_name(table, catalog), _text(column.name), _text(column.type))[-len(names) :],
        )
        for table in tables
        for column in table.columns
        if not request.column or column.name == _find_column(table, request.column)
    }
    return _list_constants(names, listed, glosses, "columns")


# What is listed by its qualified name: its comment, and its cells.
_Listed = Mapping[str, tuple[str, tuple[str, ...]]]


def _list_constants(
    names: Sequence[str], listed: _Listed, glosses: Glosses, what: str
) -> CatalogQuery:
    """The rows, and comments with what glosses add as a last column, as far as there is room."""
    texts = {name: [comment] if comment else [] for name, (comment, _) in listed.items()}
    for name, gloss in glosses:
        if name in texts:
            texts[name].append(gloss)
    rows: dict[str, tuple[str, ...]] = {}
    taken = 0
    for name, (_, cells) in [*listed.items()][:_MOST_LISTED]:
        taken += sum(len(cell) + 4 for cell in cells)
        if taken > _LONGEST_QUERY:
            break
        rows[name] = cells
    room = min(_LONGEST_TEXT, (_LONGEST_QUERY - taken) // len(rows))
    if any(texts.values()) and room >= _SHORTEST_TEXT:
        names = (*names, "description")
        rows = {name: (*cells, _text("; ".join(texts[name]), room)) for name, cells in rows.items()}
    head = ", ".join(f'"{name}"' for name in names)
    lines = ", ".join(f"({', '.join(cells)})" for cells in rows.values())
    sql = f"WITH listed({head}) AS (VALUES {lines}) SELECT {head} FROM listed"
    return CatalogQuery(sql, _note_rest(what, len(listed), len(rows)))


def _name(table: Table, catalog: Catalog) -> str:
    return _text(catalog.short_names[table.qualified])


def _count_rows(request: CatalogRequest, tables: Sequence[Table], catalog: Catalog) -> CatalogQuery:
    if request.table:
        name = catalog.short_names[tables[0].qualified]
        return CatalogQuery(f'SELECT count(*) AS "rows" FROM {name}')
    # Tables of events refer to many others, and come first.
    keys = catalog.keys_from
    counted = sorted(tables, key=lambda table: -len(keys.get(table.qualified, ())))[:_MOST_COUNTED]
    names = [catalog.short_names[table.qualified] for table in counted]
    counts = " UNION ALL ".join(
        f'SELECT {_text(name)} AS "table", count(*) AS "rows" FROM {name}' for name in names
    )
    note = _note_rest("tables", len(tables), len(counted))
    return CatalogQuery(f"{counts} ORDER BY 2 DESC, 1", note)


def _note_rest(what: str, total: int, shown: int) -> str:
    return f"Only {shown} of {total} {what} are listed." if shown < total else ""


def _text(text: str, most: int = _LONGEST_TEXT) -> str:
    plain = " ".join(text.replace("\0", " ").split())
    if len(plain) > most:
        plain = f"{plain[: most - 1]}…"
    return quote_literal(plain)


def _resolve(said: str, catalog: Catalog) -> Table | None:
    """The table as it is called, or the only one whose name has the same words."""
    for name in (said, strip_around(said)):
        if table := find_table(catalog, name):
            return table
    words = split_words(strip_around(said))
    same = [table for table in catalog.tables if split_words(table.name) == words]
    return same[0] if words and len(same) == 1 else None


def _find_column(table: Table, said: str) -> str:
    """The name of the table's column that is called so; empty if there is none."""
    words = split_words(said)
    return next(
        (
            column.name
            for column in table.columns
            if column.name.lower() == said.lower() or split_words(column.name) == words
        ),
        "",
    )


def _bears(name: str, words: frozenset[str]) -> bool:
    return not words.isdisjoint(split_words(name))
