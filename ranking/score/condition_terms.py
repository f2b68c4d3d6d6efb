"""Measures conditions with a figure that the question does not give: flags, and values of keys.

Each measure has a name and a strength between 0 and 1; one that does not apply is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from nl2sql.expectations.expectations import Expectations
from nl2sql.expectations.said_texts import is_said
from nl2sql.words import split_words
from ranking.query import ColumnUse, Query
from ranking.score.question_terms import Measure

# The beginnings of the names of flags: "is_active".
_FLAG_WORDS = frozenset("is has was can flag".split())
_TEXT_FLAGS = ("0", "1")


def measure_conditions(question: str, expected: Expectations, query: Query) -> Iterator[Measure]:
    """Yields flags that the question does not mention, and keys compared with a number of things.

    "Customer 5" gives the value of a key, "only 5 customers" does not. A flag is mentioned if its
    column is one by its type or name, and the question contains all other words of the name.

    >>> from nl2sql.catalog import Column, Table
    >>> from nl2sql.expectations.expectations import read_expectations
    >>> from ranking.query import read_query
    >>> shop = Table("s", "shop", (Column("shop_id", "int"), Column("score", "int")), ("shop_id",))
    >>> query = read_query("SELECT 1 FROM shop WHERE shop_id = 2 AND score = 1", "sqlite", [shop])
    >>> question = "Which city has only 2 shops?"
    >>> list(measure_conditions(question, read_expectations(question), query))
    [('flags_unsaid', 0.5), ('keys_compared', 1.0)]
    >>> list(measure_conditions("shop 2", read_expectations("shop 2"), query))
    [('flags_unsaid', 0.5)]
    """
    pairs = [
        (node.this, node.args["expression"])
        for node in query.find_all(exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
        if isinstance(node.this, exp.Column)
        and isinstance(node.args["expression"], exp.Literal | exp.Boolean)
    ]
    said = frozenset(split_words(question))
    unsaid = sum(
        _is_flag(value, question, expected) and not _is_mentioned(column, said, query)
        for column, value in pairs
    )
    if unsaid:
        yield "flags_unsaid", unsaid / len(pairs)
    if not expected.keyed and any(
        _is_number(value)
        and (use := query.resolve(column)) is not None
        and _is_key(use, query)
        and not _names_key(question, use, value.name)
        for column, value in pairs
    ):
        yield "keys_compared", 1.0


def _is_flag(value: exp.Expr, question: str, expected: Expectations) -> bool:
    """True for true, false, 0 and 1 that the question does not contain; "no" may mean 0."""
    if isinstance(value, exp.Boolean):
        return True
    if not _is_number(value) or value.name not in _TEXT_FLAGS or is_said(value.name, question):
        return False
    return value.name == "1" or not expected.negated


def _is_number(value: exp.Expr) -> bool:
    return isinstance(value, exp.Literal) and not value.is_string


def _is_mentioned(column: exp.Column, said: frozenset[str], query: Query) -> bool:
    words = set(split_words(column.name))
    use = query.resolve(column)
    is_boolean = use is not None and query.kind_of(use) == "boolean"
    return (is_boolean or not words.isdisjoint(_FLAG_WORDS)) and said >= words - _FLAG_WORDS


def _is_key(use: ColumnUse, query: Query) -> bool:
    return query.is_key(use) or use.table.primary_key == (use.column.name,)


def _names_key(question: str, use: ColumnUse, figure: str) -> bool:
    """True if the figure follows a word of the table or column: "customer 5", "room #268"."""
    known = {*split_words(use.table.name), *split_words(use.column.name)}
    before = re.findall(rf"(\w+)\W+{re.escape(figure)}\b", question)
    return any(not known.isdisjoint(split_words(word)) for word in before)
