"""What stands out in a grouped result: "“USA” has the most customers: 13 of 59."

By rule, from the query and the rows, for one number beside what it belongs to. Nothing is said
where the first place is shared, where rows are missing that could change it, or where the query
does not tell what the number is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from sqlglot import exp
from sqlglot.errors import SqlglotError

from generation.conversation.answer_sentence import (
    is_sayable,
    load_sentences,
    read_number,
    say_value,
)
from generation.conversation.suggestions import say_name
from nl2sql.languages import Language
from nl2sql.results.headings import name_columns
from nl2sql.sql.parsing import read_tree
from nl2sql.types import ResultSet

_MOST_LABELS = 2
# Words of an alias that say only that it is a number.
_EMPTY_WORDS = frozenset("count cnt number num no of total n the amount how many".split())
_LONG = {"avg": "average", "max": "highest", "min": "lowest", "qty": "quantity", "amt": "amount"}


@dataclass(frozen=True, slots=True)
class _Measure:
    """The one number: its column, what it counts or is, and how the query sorts by it."""

    at: int
    noun: str
    is_count: bool
    is_additive: bool
    descends: bool | None


def render_headline(sql: str, result: ResultSet, dialect: str, language: Language = "en") -> str:
    """The sentence; empty if nothing can be said.

    >>> rows = ResultSet(("country", "n"), ("text", "int8"), (("USA", 13), ("UK", 4)), False, 1.0)
    >>> render_headline("SELECT country, count(*) AS n FROM customers GROUP BY 1", rows, "postgres")
    '“USA” has the most customers: 13 of 17.'
    """
    if not result.rows or result.cut or not 2 <= len(result.columns) <= _MOST_LABELS + 1:
        return ""
    try:
        query = read_tree(sql, dialect)
    except (SqlglotError, RecursionError):
        return ""
    measure = _find_measure(query, result) if isinstance(query, exp.Select) else None
    if measure is None:
        return ""
    is_part = result.truncated or query.args.get("limit") is not None
    if measure.descends is None and (is_part or len(result.rows) < 2):
        return ""
    numbers = [read_number(row[measure.at]) for row in result.rows]
    known = [number for number in numbers if number is not None]
    if len(known) < len(numbers) or (len(numbers) == 1 and not query.args.get("limit")):
        return ""
    goes_up = measure.descends is False
    best = min(known) if goes_up else max(known)
    if known.count(best) > 1 or (measure.descends is not None and known[0] != best):
        return ""
    row = result.rows[known.index(best)]
    labels = [say_value(cell) for at, cell in enumerate(row) if at != measure.at]
    said = load_sentences(language)
    unit = result.units[measure.at] if result.units else ""
    value = say_value(row[measure.at], unit, said["marks"])
    if not value or not all(labels) or any(cell is None for cell in row):
        return ""
    if measure.is_additive and not is_part and not goes_up and min(known) >= 0:
        total = say_value(sum(known, Decimal(0)), unit, said["marks"])
        value = said["of"].format(value=value.removesuffix(f" {unit}"), total=total)
    form = (
        ("fewest" if goes_up else "most")
        if measure.is_count
        else ("lowest" if goes_up else "highest")
    )
    label = ", ".join(filter(None, labels))
    sentence: str = said[form].format(label=label, noun=measure.noun, value=value)
    return sentence


def _find_measure(query: exp.Select, result: ResultSet) -> _Measure | None:
    """The only aggregate, or else the only number, by which the query then must sort."""
    outputs = query.expressions
    if len(outputs) != len(result.columns) or query.is_star:
        return None
    computed = [
        at for at, output in enumerate(outputs) if isinstance(output.unalias(), exp.AggFunc)
    ]
    numbers = [
        at
        for at in range(len(outputs))
        if read_number(result.rows[0][at]) is not None and not _is_key(result.columns[at])
    ]
    chosen = computed or numbers
    if len(chosen) != 1 or (computed and not query.args.get("group")):
        return None
    at = chosen[0]
    inner, name = outputs[at].unalias(), name_columns(result.columns)[at]
    descends = _find_order(query, outputs, at)
    if not computed and descends is None:
        return None
    noun = _name_counted(inner, outputs[at].alias, query)
    is_count = bool(noun)
    noun = noun or _say_words(name)
    if not is_sayable(noun):
        return None
    has_all = not query.args.get("having") and not inner.find(exp.Distinct)
    return _Measure(at, noun, is_count, has_all and _adds_up(inner), descends)


def _find_order(query: exp.Select, outputs: Sequence[exp.Expr], at: int) -> bool | None:
    """Whether the query sorts by this output first, downwards or upwards; None if not."""
    order = query.args.get("order")
    if order is None or not order.expressions:
        return None
    first = order.expressions[0]
    key = first.this
    names = {outputs[at].alias_or_name.lower()} - {""}
    is_it = (
        (isinstance(key, exp.Literal) and key.name == str(at + 1))
        or (isinstance(key, exp.Column) and not key.table and key.name.lower() in names)
        or key == outputs[at].unalias()
    )
    return bool(first.args.get("desc")) if is_it else None


def _name_counted(inner: exp.Expr, alias: str, query: exp.Select) -> str:
    """What a count counts, in the plural: by its alias, else by its table; or an empty text."""
    if not isinstance(inner, exp.Count):
        return ""
    words = [word for word in _say_words(alias).split() if word not in _EMPTY_WORDS]
    if words:
        return " ".join(words)
    sources = {
        table.alias_or_name.lower(): table.name
        for table in query.find_all(exp.Table)
        if table.parent_select is query
    }
    if len(sources) == 1 and not query.args.get("joins"):
        return say_name(next(iter(sources.values())), plural=True)
    column = inner.find(exp.Column)
    owner = sources.get(column.table.lower()) if column is not None and column.table else None
    return say_name(owner, plural=True) if owner else ""


def _adds_up(inner: exp.Expr) -> bool:
    return isinstance(inner, exp.Count | exp.Sum)


def _say_words(name: str) -> str:
    return " ".join(_LONG.get(word, word) for word in say_name(name).lower().split())


def _is_key(name: str) -> bool:
    return name.lower().endswith(("id", "_no", "_nr", "code", "year", "month", "number"))
