"""What kind of thing a column holds, as a short mark: ``[AMT]``, ``[DATE]``, ``[FK→target]``.

A small table of rules over the words of the name and the SQL type; the first that fits wins.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from nl2sql.catalog import Column
from retrieval.glosses.abbreviations import expand_name

_NUMBER = re.compile(r"int|numeric|decimal|number|real|double|float|money|serial", re.IGNORECASE)
_TEXT = re.compile(r"char|text|string|clob|enum", re.IGNORECASE)
_TIME = re.compile(r"timestamp|datetime|^time", re.IGNORECASE)
_DATE = re.compile(r"^date$", re.IGNORECASE)
_FLAG = re.compile(r"^bool", re.IGNORECASE)
_SHORT = re.compile(r"^(?:bpchar|character|n?char|smallint|tinyint|bit)\b", re.IGNORECASE)
_UUID = re.compile(r"^uuid$", re.IGNORECASE)
_ANY = re.compile("")


@dataclass(frozen=True, slots=True)
class _Rule:
    """Fits where the type matches and, unless there are no ``words``, the name has one of them.

    ``last`` asks for it at the end of the name, ``first`` at its beginning.
    """

    mark: str
    type: re.Pattern[str]
    words: frozenset[str] = frozenset()
    last: bool = False
    first: bool = False

    def fits(self, name: Sequence[str], type_: str) -> bool:
        if not self.type.search(type_):
            return False
        if not self.words:
            return True
        looked_at = name[-1:] if self.last else name[:1] if self.first else name
        return not self.words.isdisjoint(looked_at)


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
    _Rule("PCT", _NUMBER, _words("percent percentage ratio share")),
    _Rule("PCT", _NUMBER, _words("rate"), last=True),
    _Rule("QTY", _NUMBER, _words("quantity count")),
    _Rule("QTY", _NUMBER, _words("unit"), last=True),
    _Rule("QTY", _NUMBER, _words("number"), first=True),
    _Rule(
        "AMT",
        _NUMBER,
        _words(
            "amount price cost total salary wage pay balance revenue sale fee tax budget net gross "
            "discount debit credit paid payment expense income profit margin turnover bonus value"
        ),
    ),
    _Rule("DATE", _NUMBER, _words("date"), last=True),
    _Rule("DATE", _TEXT, _words("date"), last=True),
    _Rule(
        "CODE", _TEXT, _words("code number symbol reference sku abbreviation key iso"), last=True
    ),
)


def find_kind(column: Column, *, is_key: bool = False, target: str = "") -> str:
    """The mark of a column with its brackets; empty where no rule fits.

    ``target`` is the table that its foreign key points to, ``is_key`` whether it is the primary
    key alone.

    >>> find_kind(Column("net_amt", "numeric(12,2)")), find_kind(Column("hire_dt", "date"))
    ('[AMT]', '[DATE]')
    >>> find_kind(Column("cust_no", "text")), find_kind(Column("cust", "int"), target="crm.c")
    ('[CODE]', '[FK→crm.c]')
    """
    if target:
        return f"[FK→{target}]"
    if is_key and not _TEXT.search(column.type):
        return "[ID]"
    words = expand_name(column.name).split()
    return next((f"[{rule.mark}]" for rule in _RULES if rule.fits(words, column.type)), "")
