"""Glosses: descriptions of tables and columns besides the comments of the database.

Expanded names, synonyms, kinds, units, and the values of columns with few. They are made by rules
and packaged word lists, so that a schema always gets the same ones and prompts share their
beginning. Those of the index hold no cell values, because all principals share it, and no general
synonyms, because in a card those would count as much as the schema's own words (search adds them to
the question). In prompts, values are shown only for columns of which the principal may see all
values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from sqlglot import exp

from nl2sql.catalog import Catalog, Column, Table
from nl2sql.errors import IndexUnavailable
from nl2sql.protocols import Visibility
from nl2sql.sql.column_kinds import NUMBERS, TEXTS, find_kind, read_type
from nl2sql.types import VALUES_MARK, Principal, Question
from nl2sql.units import find_unit
from nl2sql.words import split_words
from retrieval.per_catalog import PerCatalog
from retrieval.values.dictionary import ValueMemory
from retrieval.vocabulary.terms import NO_SYNONYMS, Synonyms, expand_name, expand_words

_ANY: frozenset[str] = frozenset()
# Types that hold yes or no in databases without a boolean type, of the kind "short", too.
_SHORT_TYPES = {
    exp.DType[name] for name in "CHAR NCHAR BPCHAR VARCHAR SMALLINT TINYINT BIT".split()
}


# The words of a name that a rule reads.
_ALL, _FIRST, _LAST = slice(None), slice(1), slice(-1, None)


class _Rule(NamedTuple):
    """Fits a column of one of ``kinds`` whose name has one of ``words`` there; empty means any."""

    mark: str
    kinds: frozenset[str]
    words: frozenset[str] = frozenset()
    place: slice = _ALL

    def fits(self, name: Sequence[str], kinds: frozenset[str]) -> bool:
        is_kind = not self.kinds or not self.kinds.isdisjoint(kinds)
        return is_kind and (not self.words or not self.words.isdisjoint(name[self.place]))


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_RULES = (
    _Rule("FLAG", _words("boolean")),
    _Rule("DATE", _words("date")),
    _Rule("TIME", _words("timestamp time")),
    _Rule("ID", _words("uuid")),
    _Rule("ID", _ANY, _words("id uuid guid"), _LAST),
    _Rule("FLAG", _words("short"), _words("is has can"), _FIRST),
    _Rule("FLAG", _ANY, _words("flag yn"), _LAST),
    _Rule("PCT", NUMBERS, _words("percent percentage ratio share")),
    _Rule("PCT", NUMBERS, _words("rate"), _LAST),
    _Rule("QTY", NUMBERS, _words("quantity count")),
    _Rule("QTY", NUMBERS, _words("unit"), _LAST),
    _Rule("QTY", NUMBERS, _words("number"), _FIRST),
    _Rule(
        "AMT",
        NUMBERS,
        _words(
            "amount price cost total salary wage pay balance revenue sale fee tax budget net gross "
            "discount debit credit paid payment expense income profit margin turnover bonus value"
        ),
    ),
    _Rule("DATE", NUMBERS, _words("date"), _LAST),
    _Rule("DATE", TEXTS, _words("date"), _LAST),
    _Rule("CODE", TEXTS, _words("code number symbol reference sku abbreviation key iso"), _LAST),
)


def find_mark(column: Column, dialect: str, *, is_key: bool = False, target: str = "") -> str:
    """The mark of a column, with brackets; empty if no rule fits.

    ``target`` is the table that its foreign key points to; ``is_key``: it alone is the primary key.

    >>> find_mark(Column("net_amt", "numeric(12,2)"), "postgres")
    '[AMT]'
    >>> find_mark(Column("cust", "int"), "sqlite", target="crm.c")
    '[FK→crm.c]'
    """
    if target:
        return f"[FK→{target}]"
    kind = find_kind(column.type, dialect)
    if is_key and kind not in TEXTS:
        return "[ID]"
    is_short = read_type(column.type, dialect) in _SHORT_TYPES
    kinds = frozenset((kind, "short") if is_short else (kind,))
    words = expand_name(column.name).split()
    return next((f"[{rule.mark}]" for rule in _RULES if rule.fits(words, kinds)), "")


_MOST_ENUMERATED = 12
_LONGEST = 200


def render_enumeration(values: Sequence[str], comment: str = "") -> str:
    """``values: 'a', 'b'``; empty if they are many or long, or the comment names all of them.

    >>> render_enumeration(["OPN", "it's"])
    "values: 'OPN', 'it''s'"
    >>> render_enumeration(["OPN", "CXL"], "OPN = open, CXL = cancelled")
    ''
    """
    if not 0 < len(values) <= _MOST_ENUMERATED or all(value in comment for value in values):
        return ""
    # Untrusted text: a line break in a value must not end the prompt's line.
    shown = (" ".join(value.split()).replace("'", "''") for value in values)
    text = ", ".join(f"'{value}'" for value in shown)
    return f"{VALUES_MARK}{text}" if len(text) <= _LONGEST else ""


def build_glosses(catalog: Catalog, synonyms: Synonyms) -> dict[str, str]:
    """``schema.table`` or ``schema.table.column`` → its gloss, for all that have one.

    >>> from nl2sql.catalog import Column, Table
    >>> shop = Catalog("shop", (Table("s", "cust", (Column("cust_no", "text"),)),))
    >>> build_glosses(shop, Synonyms(tables={"s.cust": ("patron",)}))
    {'s.cust': 'customer, patron', 's.cust.cust_no': 'customer number'}
    """
    described: dict[str, str] = {}
    for table in catalog.tables:
        named = [(table.qualified, table.name, synonyms.tables)]
        named += [
            (f"{table.qualified}.{column.name}", column.name, synonyms.columns)
            for column in table.columns
        ]
        for qualified, name, own in named:
            if text := ", ".join(filter(None, (write_out(name), *own.get(qualified, ())))):
                described[qualified] = text
    return described


# Many tables have columns of the same name.
@lru_cache(maxsize=1 << 12)
def write_out(name: str) -> str:
    """The name with its abbreviations expanded; empty if it has none."""
    short = split_words(name)
    long = expand_words(short)
    return " ".join(long) if long != short else ""


class IndexedGlossary:
    """The glossary over the value index and the synonym files; ``synonyms`` is by database."""

    def __init__(
        self, memory: ValueMemory, visibility: Visibility, synonyms: Mapping[str, Synonyms]
    ) -> None:
        self._memory = memory
        self._visibility = visibility
        self._synonyms = dict(synonyms)
        self._targets = PerCatalog(_find_targets)

    async def describe(
        self, question: Question, tables: Sequence[Table], catalog: Catalog
    ) -> tuple[tuple[str, str], ...]:
        """Pairs of ``schema.table`` or ``schema.table.column`` and a description.

        A column's values are a second pair of the same name. ``catalog`` is the visible one. Raises
        PolicyError.
        """
        synonyms = self._synonyms.get(catalog.database, NO_SYNONYMS)
        targets = self._targets.of(catalog)
        values_of = await self.open_values(question.database, question.principal, catalog)
        # A key between two of the tables is in the schema already.
        shown = {catalog.short_names.get(table.qualified) for table in tables}
        pairs: list[tuple[str, str]] = []
        for table in tables:
            pairs.append((table.qualified, describe_table(table, synonyms)))
            for column in table.columns:
                name = f"{table.qualified}.{column.name}"
                target = targets.get(name, "")
                kind = "" if target in shown else self._find_mark(table, column, catalog)
                pairs.append((name, describe_column(table, column, kind, synonyms)))
                pairs.append((name, render_enumeration(values_of(name), column.comment)))
        return tuple(pair for pair in pairs if pair[1])

    def describe_names(self, catalog: Catalog) -> list[str]:
        """What each table's name means, in the catalog's order; empty where it is not known."""
        synonyms = self._synonyms.get(catalog.database, NO_SYNONYMS)
        return [describe_table(table, synonyms) for table in catalog.tables]

    def describe_columns(self, table: Table, catalog: Catalog) -> list[str]:
        """What each column of the table is, in its order; ``catalog`` is the visible one."""
        synonyms = self._synonyms.get(catalog.database, NO_SYNONYMS)
        return [
            describe_column(table, column, self._find_mark(table, column, catalog), synonyms)
            for column in table.columns
        ]

    def _find_mark(self, table: Table, column: Column, catalog: Catalog) -> str:
        return find_mark(
            column,
            catalog.dialect,
            is_key=table.primary_key == (column.name,),
            target=self._targets.of(catalog).get(f"{table.qualified}.{column.name}", ""),
        )

    async def open_values(
        self, database: str, principal: Principal, catalog: Catalog
    ) -> Callable[[str], tuple[str, ...]]:
        """Gives the values of ``schema.table.column``, if the principal may see all of them.

        None if they are not indexed or the index does not answer. Raises PolicyError.
        """
        try:
            dictionary = await self._memory.dictionary(catalog.database)
            opened = await self._visibility.open_columns(database, principal)
        except IndexUnavailable:
            return lambda name: ()
        return lambda name: dictionary.values_of(name) if opened is None or name in opened else ()


def _find_targets(catalog: Catalog) -> dict[str, str]:
    """Column → the short name of the table that its foreign key points to."""
    return {
        f"{key.table}.{key.columns[0]}": catalog.short_names[key.target]
        for key in catalog.foreign_keys
        if len(key.columns) == 1 and key.target in catalog.short_names
    }


def describe_table(table: Table, synonyms: Synonyms) -> str:
    """The expanded name, unless there is a comment, and the user's synonyms."""
    long = "" if table.comment else write_out(table.name)
    return _join("", long, synonyms.tables.get(table.qualified, ()), "")


def describe_column(table: Table, column: Column, kind: str, synonyms: Synonyms) -> str:
    """The kind, the expanded name, the user's synonyms and the unit.

    Kind and name are left out where a comment describes the column, to keep prompts short.

    >>> budget = Table("f", "budgets", (Column("plan_amt_eur", "numeric"),))
    >>> describe_column(budget, budget.columns[0], "[AMT]", NO_SYNONYMS)
    '[AMT] plan amount eur; in EUR'
    """
    unit = find_unit(column.name)
    is_in_comment = unit.lower() in column.comment.lower()
    own = synonyms.columns.get(f"{table.qualified}.{column.name}", ())
    long = "" if column.comment else write_out(column.name)
    return _join("" if column.comment else kind, long, own, "" if is_in_comment else unit)


def _join(kind: str, long: str, own: Sequence[str], unit: str) -> str:
    parts = [
        f"{kind} {long}".strip(),
        f"also called {', '.join(own)}" if own else "",
        f"in {unit}" if unit else "",
    ]
    return "; ".join(part for part in parts if part)
