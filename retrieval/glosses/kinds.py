"""Marks the kind of a column's content: ``[AMT]``, ``[DATE]``, ``[FK→target]``.

Rules over the words of the name and the SQL type; the first rule that fits wins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from nl2sql.catalog import Column
from nl2sql.sql.column_kinds import NUMBERS, TEXTS, find_kind, read_type
from retrieval.vocabulary.abbreviations import expand_name

_TIME = frozenset({"timestamp", "time"})
_DATE = frozenset({"date"})
_FLAG = frozenset({"boolean"})
_UUID = frozenset({"uuid"})
_ANY: frozenset[str] = frozenset()
# Types that hold yes or no in databases without a boolean type.
_SHORT = frozenset({"short"})
_SHORT_TYPES = frozenset(
    (
        *(exp.DType.CHAR, exp.DType.NCHAR, exp.DType.BPCHAR, exp.DType.VARCHAR),
        *(exp.DType.SMALLINT, exp.DType.TINYINT, exp.DType.BIT),
    )
)


@dataclass(frozen=True, slots=True)
class _Rule:
    """Fits a column of one of ``kinds`` whose name has one of ``words``; empty means any.

    ``last`` requires the word at the end of the name, ``first`` at its beginning.
    """

    mark: str
    kinds: frozenset[str]
    words: frozenset[str] = frozenset()
    last: bool = False
    first: bool = False

    def fits(self, name: Sequence[str], kinds: frozenset[str]) -> bool:
        if self.kinds and self.kinds.isdisjoint(kinds):
            return False
        if not self.words:
            return True
        searched = name[-1:] if self.last else name[:1] if self.first else name
        return not self.words.isdisjoint(searched)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_RULES = (
    _Rule("FLAG", _FLAG),
    _Rule("DATE", _DATE),
    _Rule("TIME", _TIME),
    _Rule("ID", _UUID),
    _Rule("ID", _ANY, _words("id uuid guid"), last=True),
    _Rule("FLAG", _SHORT, _words("is has can"), first=True),
    _Rule("FLAG", _ANY, _words("flag yn"), last=True),
    _Rule("PCT", NUMBERS, _words("percent percentage ratio share")),
    _Rule("PCT", NUMBERS, _words("rate"), last=True),
    _Rule("QTY", NUMBERS, _words("quantity count")),
    _Rule("QTY", NUMBERS, _words("unit"), last=True),
    _Rule("QTY", NUMBERS, _words("number"), first=True),
    _Rule(
        "AMT",
        NUMBERS,
        _words(
            "amount price cost total salary wage pay balance revenue sale fee tax budget net gross "
            "discount debit credit paid payment expense income profit margin turnover bonus value"
        ),
    ),
    _Rule("DATE", NUMBERS, _words("date"), last=True),
    _Rule("DATE", TEXTS, _words("date"), last=True),
    _Rule(
        "CODE", TEXTS, _words("code number symbol reference sku abbreviation key iso"), last=True
    ),
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
    kinds = frozenset({kind}) | (_SHORT if is_short else _ANY)
    words = expand_name(column.name).split()
    return next((f"[{rule.mark}]" for rule in _RULES if rule.fits(words, kinds)), "")
