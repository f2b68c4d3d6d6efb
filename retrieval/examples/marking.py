"""Finds the values of a verified query that its question says, and makes parameters of them.

Only values that a column, or a part of a date, is compared with: any other number may mean
something else. A text may then have every value of its column, a number and a date any value. So
the whole value has to vary: nothing else of the query may mean it, and stay as it is.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from sqlglot import exp

from nl2sql.catalog import Catalog
from nl2sql.sql.nodes import read_identifier
from nl2sql.sql.parsing import parse_one
from nl2sql.sql.scopes import name_table
from nl2sql.words import split_words
from retrieval.examples.pairs import Pair
from retrieval.examples.parameters import Parameter

_Type: TypeAlias = Literal["integer", "number", "text", "date"]
_COMPARISONS = (exp.EQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
_DATE_PARTS = frozenset(("year", "quarter", "month", "week", "day"))
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
# Each is looked for in the whole query, and in the whole question.
_MOST_VALUES = 50
# Columns that are called like those of many other tables.
_GENERIC = frozenset(("name", "title", "code", "label"))


@dataclass(frozen=True, slots=True)
class ProposedParameter:
    """A value of the query, the ``phrase`` of the question that says it, and what it may be."""

    name: str
    phrase: str
    parameter: Parameter


class Proposal(NamedTuple):
    """The values that can be parameters, and why each other one cannot: its text and the reason."""

    offered: tuple[ProposedParameter, ...] = ()
    withheld: tuple[tuple[str, str], ...] = ()


def propose_parameters(question: str, sql: str, catalog: Catalog) -> Proposal:
    """The values that the question says once. Raises SqlglotError.

    >>> shop = Catalog("shop", (), search_path=())
    >>> sql = "SELECT count(*) FROM o WHERE extract(year FROM day) = 2023 AND land = 'DE' LIMIT 5"
    >>> offered, withheld = propose_parameters("German orders of 2023?", sql, shop)
    >>> [(each.name, each.phrase) for each in offered], withheld
    ([('year', '2023')], (("'DE'", 'the question does not write it so'),))
    """
    tree = parse_one(sql, catalog.dialect)
    for column in tree.find_all(exp.Column):
        name_table(column)
    places: dict[str, list[tuple[exp.Expr, exp.Expr]]] = {}
    for compared, literal in _list_values(tree):
        places.setdefault(_read_value(literal), []).append((compared, literal))
    found: list[ProposedParameter] = []
    withheld: dict[str, str] = {}
    texts = {literal.name for literal in tree.find_all(exp.Literal)}
    said = {text for text in texts if _compile(text).search(question)}
    for at, (value, ones) in enumerate(places.items()):
        proposed: ProposedParameter | str = "the query holds too many values"
        if at < _MOST_VALUES:
            taken = {each.name for each in found}
            proposed = _propose(value, ones, tree, question, said, catalog, taken)
        if isinstance(proposed, ProposedParameter):
            found.append(proposed)
        else:
            without_cast = next(ones[0][1].find_all(exp.Literal))
            withheld[without_cast.sql(catalog.dialect)] = proposed
    found.sort(key=lambda each: question.index(each.phrase))
    return Proposal(tuple(found), tuple(withheld.items()))


def _propose(
    value: str,
    ones: Sequence[tuple[exp.Expr, exp.Expr]],
    tree: exp.Expr,
    question: str,
    said: Container[str],
    catalog: Catalog,
    taken: set[str],
) -> ProposedParameter | str:
    """The value, wherever it is compared, as a parameter, or why it is none."""
    phrases = [match[0] for match in _compile(value).finditer(question)]
    if len(phrases) != 1:
        return f"the question {'says it more than once' if phrases else 'does not write it so'}"
    kinds = {_describe(*one, catalog) for one in ones}
    # What is compared with several columns is not one parameter.
    names = {_choose_name(compared, taken) for compared, _ in ones}
    kind = kinds.pop()
    if kinds or len(names) > 1:
        return "several columns are compared with it"
    parameter = None
    with suppress(ValueError):  # no parameter can have a value such as 1e5
        parameter = Parameter(type=kind[0], default=value, column=kind[1]) if kind else None
    if parameter is None:
        return "no column is compared with it as it is"
    if _is_elsewhere(value, [literal for _, literal in ones], tree, said):
        return "another part of the query holds it, or may follow from it"
    return ProposedParameter(names.pop(), phrases[0], parameter)


def mark_parameters(
    question: str, sql: str, chosen: Sequence[ProposedParameter], dialect: str
) -> Pair:
    """The query with these values as parameters. Raises SqlglotError; ValueError if it has none."""
    tree = parse_one(sql, dialect)
    for each in chosen:
        question = _compile(each.phrase).sub(f":{each.name}", question)
    for _, literal in list(_list_values(tree)):
        value = _read_value(literal)
        for each in chosen:
            if value == each.parameter.default:
                literal.replace(exp.var(f":{each.name}"))
    parameters = {each.name: each.parameter for each in chosen}
    pair = Pair(question=question, sql=tree.sql(dialect, comments=False), parameters=parameters)
    if error := pair.find_error(dialect):
        raise ValueError(error)
    return pair


def _list_values(tree: exp.Expr) -> Iterator[tuple[exp.Expr, exp.Expr]]:
    """What is compared, and the literal that it is compared with; a date with its cast."""
    for comparison in tree.find_all(*_COMPARISONS, exp.Between):
        ends = [end for key in ("expression", "low", "high") if (end := comparison.args.get(key))]
        sides = [(comparison.this, end) for end in ends]
        for side, other in (*sides, *((end, this) for this, end in sides)):
            if _read_value(side) and other.find(exp.Column) and not other.find(exp.Literal):
                yield other, side


def _read_value(node: exp.Expr) -> str:
    """The value of a literal, or of one that is cast to a date; empty for anything else."""
    if isinstance(node, exp.Cast) and node.is_type("date"):
        node = node.this
    return node.name if isinstance(node, exp.Literal) else ""


def _is_elsewhere(
    value: str, literals: Sequence[exp.Expr], tree: exp.Expr, said: Container[str]
) -> bool:
    """Whether anything but these literals holds the value, or may follow from it.

    It may if the question has not ``said`` it: a date, beside a number or a date, and whatever is
    compared with the same column or part of a date.

    >>> tree = parse_one("SELECT 1 AS in_2023 FROM o WHERE year = 2023", "postgres")
    >>> _is_elsewhere("2023", list(tree.find_all(exp.EQ)), tree, {"2023"})
    True
    """
    own = {id(leaf) for literal in literals for leaf in literal.walk()}
    named = {name for literal in literals for name in _name_compared(literal)}
    is_number = value[-1:].isdecimal()
    edge = r"\d" if is_number else r"[^\W_]"
    held = re.compile(rf"(?<!{edge}){re.escape(value)}(?!{edge})", re.I)
    for leaf in tree.walk():
        text = leaf.this
        if not isinstance(text, str) or id(leaf) in own or leaf.arg_key in ("db", "catalog"):
            continue
        if held.search(text):
            return True
        if not isinstance(leaf, exp.Literal) or text in said:
            continue
        if (is_number and _DAY.match(text)) or named & _name_compared(leaf):
            return True
    return False


def _name_compared(literal: exp.Expr) -> set[str]:
    """The names of what the literal is compared with, in whatever way."""
    condition = literal.find_ancestor(exp.Predicate, exp.Query)
    if not isinstance(condition, exp.Predicate):
        return set()
    parts = (part for part in condition.find_all(exp.Column, exp.Extract) if part.find(exp.Column))
    return {_choose_name(part, set()) for part in parts}


def _compile(value: str) -> re.Pattern[str]:
    """Matches the value as whole words; a number also after Q, as in "Q3"."""
    return re.compile(rf"(?:(?<![\w.,-])|(?<=\bQ)){re.escape(value)}(?![\w-]|[.,]\d)", re.I)


def _describe(column: exp.Expr, literal: exp.Expr, catalog: Catalog) -> tuple[_Type, str] | None:
    """The type of the value, and the column of a text; None for a text that is of no column."""
    value = _read_value(literal)
    if isinstance(literal, exp.Literal) and not literal.is_string:
        return ("integer" if value.isdecimal() else "number"), ""
    if _DAY.fullmatch(value):
        return "date", ""
    if not isinstance(column, exp.Column):
        return None
    table = catalog.resolve(
        read_identifier(column.args.get("table"), catalog.dialect),
        read_identifier(column.args.get("db"), catalog.dialect),
    )
    own = table.column(read_identifier(column.this, catalog.dialect)) if table else None
    if table is None or own is None:
        return None
    return "text", f"{table.qualified}.{own.name}"


def _choose_name(column: exp.Expr, taken: set[str]) -> str:
    """ "year" for a year of a date, "region" for ``regions.name``; letters and _ only."""
    named = next(column.find_all(exp.Column))
    part = column.this.name if isinstance(column, exp.Extract) else column.key
    words = [part.lower()] if part.lower() in _DATE_PARTS else split_words(named.name)
    if len(words) == 1 and words[0] in _GENERIC and named.table:
        words = split_words(named.table)
    name = re.sub("[^a-z_]", "", "_".join(words)).strip("_") or "value"
    while name in taken:
        name += "_other"
    return name
