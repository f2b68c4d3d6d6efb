"""Measures the literals with which a query compares something."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

from nl2sql.expectations.said_texts import is_said
from nl2sql.types import SchemaContext
from nl2sql.words import content_words
from ranking.conditions import Condition, list_conditions
from ranking.query import ColumnUse, Query, read_candidate
from ranking.score.points import Measure

# Values of flags that question words for their columns mean; 1 may be any number.
_FLAGS = frozenset({"true", "false", "0"})
_STEM = 4


def measure_literals(question: str, query: Query, context: SchemaContext) -> Iterator[Measure]:
    """Measures of literals that the question does not mention.

    A code that the description of its column explains, such as ``CXL``, counts as mentioned, and so
    does a literal of a definition that the question names. ``values_unsaid`` are those that are
    stored if the query finds anything. A flag is mentioned by a word for its column.

    >>> from nl2sql.catalog import Column, Table
    >>> from ranking.query import read_query
    >>> query = read_query("SELECT 1 FROM t WHERE a > 5 AND b = 'open'", "sqlite")
    >>> list(measure_literals("over 5", query, SchemaContext()))
    [('values_unsaid', 0.5)]
    >>> table = Table("s", "t", (Column("metal", "boolean"),))
    >>> query = read_query("SELECT 1 FROM t WHERE a > 5 AND metal = TRUE", "postgres", [table])
    >>> list(measure_literals("over 5", query, SchemaContext()))
    [('literals_unsaid', 0.5)]
    >>> list(measure_literals("metals over 5", query, SchemaContext()))
    []
    """
    conditions = list(list_conditions(query))
    known = {match.value.strip().lower() for match in context.values}
    known |= set(_list_defined(context))
    glosses = dict(context.glosses)
    unsaid = [
        condition
        for condition in conditions
        if condition.text.strip(" %").lower() not in known
        and not _is_said(condition, question, glosses)
    ]
    shown = sum(condition.is_shown for condition in unsaid)
    if len(unsaid) > shown:
        yield "literals_unsaid", (len(unsaid) - shown) / len(conditions)
    if shown:
        yield "values_unsaid", shown / len(conditions)


def _is_said(condition: Condition, question: str, glosses: Mapping[str, str]) -> bool:
    """Whether the question mentions the literal, or the number next to it, or a flag's column.

    "More than one" is > 1 or >= 2.
    """
    text, use = condition.text, condition.use
    if text.lower() in _FLAGS:
        if use is None or not isinstance(condition.node, exp.EQ | exp.NEQ):
            return True
        names = f"{use.column.name} {_describe(use, glosses)}".lower()
        return any(word[:_STEM] in names for word in content_words(question))
    if text == "1" and not condition.literal.is_string:
        return True
    if use is not None and is_said(text, _describe(use, glosses)):
        return True
    near = (int(text) - 1, int(text) + 1) if text.isdecimal() else ()
    return any(is_said(str(each), question) for each in (text, *near))


def _describe(use: ColumnUse, glosses: Mapping[str, str]) -> str:
    return f"{use.column.comment} {glosses.get(use.name, '')}"


def _list_defined(context: SchemaContext) -> Iterator[str]:
    """The literals of the definitions, in lower case."""
    for definition in context.definitions:
        if (meant := read_candidate(definition.query, context)) is not None:
            for literal in meant.find_all(exp.Literal, exp.Boolean):
                yield str(literal.this).strip(" %").lower()
