"""What is late shows in two times, one after the other: without them there is no answer.

"How many orders were shipped late?" was answered with the number of shipped orders, surely, since
all samples agreed.
"""

from __future__ import annotations

import re

from sqlglot import exp

from nl2sql.types import Question
from nl2sql.words import split_words
from ranking.conditions import list_texts
from ranking.query import Query

# After a time or a promise; not "late in 2024", "in late May", "late at night".
_LATE = re.compile(
    r"\b(?:overdue|past due|behind schedule|delayed(?! by)|(?:too )?late(?=[?.!,;]|$"
    r"| (?:orders?|deliver|ship|payments?|invoices?|arriv)))|\b(?:on|in) time(?=[?.!,;]|$)",
    re.IGNORECASE,
)
_WORDS = frozenset("late overdue delay delayed lateness".split())


def misses_times(question: Question, query: Query) -> bool:
    """True if it is asked what is late, and the query cannot tell.

    It can by an order between a column and anything but a number, by a column's name, or by a
    condition on a text.
    """
    if not _LATE.search(question.english):
        return False
    names = " ".join(column.name for column in query.find_all(exp.Column))
    if not _WORDS.isdisjoint(split_words(names)) or any(list_texts(query)):
        return False
    return not any(
        _compares_column(node)
        for node in query.find_all(exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between)
    )


def _compares_column(node: exp.Expr) -> bool:
    sides = [node.this, node.args.get("expression") or node.args["low"]]
    has_number = any(isinstance(side, exp.Literal) and not side.is_string for side in sides)
    return not has_number and any(side.find(exp.Column) for side in sides)
