"""Measures the literals with which a query compares something."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

from nl2sql.expectations.said_texts import is_said
from nl2sql.types import SchemaContext
from ranking.conditions import list_conditions
from ranking.query import ColumnUse, Query, read_candidate
from ranking.score.points import Measure


def measure_literals(question: str, query: Query, context: SchemaContext) -> Iterator[Measure]:
    """Measures of literals that the question does not mention.

    A code that the description of its column explains, such as ``CXL``, counts as mentioned, and so
    does a literal of a definition that the question names. ``values_unsaid`` are those that are
    stored if the query finds anything.

    >>> from ranking.query import read_query
    >>> query = read_query("SELECT 1 FROM t WHERE a > 5 AND b = 'open'", "sqlite")
    >>> list(measure_literals("over 5", query, SchemaContext()))
    [('values_unsaid', 0.5)]
    """
    conditions = list(list_conditions(query))
    known = {match.value.strip().lower() for match in context.values}
    known |= set(_list_defined(context))
    glosses = dict(context.glosses)
    unsaid = [
        condition
        for condition in conditions
        if not _is_said(condition.text, question)
        and condition.text.strip(" %").lower() not in known
        and (condition.literal.is_string or condition.text not in ("0", "1"))
        and not (condition.use and is_said(condition.text, _describe(condition.use, glosses)))
    ]
    shown = sum(condition.is_shown for condition in unsaid)
    if len(unsaid) > shown:
        yield "literals_unsaid", (len(unsaid) - shown) / len(conditions)
    if shown:
        yield "values_unsaid", shown / len(conditions)


def _is_said(text: str, question: str) -> bool:
    """Whether the question mentions the literal, or the number next to it.

    "More than one" is > 1 or >= 2.
    """
    near = (int(text) - 1, int(text) + 1) if text.isdecimal() else ()
    return any(is_said(str(each), question) for each in (text, *near))


def _describe(use: ColumnUse, glosses: Mapping[str, str]) -> str:
    return f"{use.column.comment} {glosses.get(use.name, '')}"


def _list_defined(context: SchemaContext) -> Iterator[str]:
    """The literals of the definitions, in lower case."""
    for definition in context.definitions:
        if (meant := read_candidate(definition.query, context)) is not None:
            for literal in meant.find_all(exp.Literal):
                yield literal.this.strip(" %").lower()
