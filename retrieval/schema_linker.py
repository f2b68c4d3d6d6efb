"""Links phrases of the question to tables and columns by their names and comments.

Deterministic: a link's score is the share of the name's words that the question contains; words
found only in the comment count half. Cell values are not looked at.
"""

from __future__ import annotations

from nl2sql.types import SchemaContext, SchemaLink, SchemaLinks
from nl2sql.words import content_words, split_words

_MOST_LINKS = 24
_MIN_SCORE = 0.5
# Words that stand in almost every key or flag of a schema and so identify no column.
_GENERIC = frozenset({"id", "no", "code", "key", "number", "type", "date", "name", "status"})


def link_schema(question: str, context: SchemaContext) -> SchemaLinks:
    """Links of at least half of a name's words, best first, at most 24."""
    words = set(content_words(question))
    links: list[SchemaLink] = []
    for hit in context.tables:
        table = hit.table
        if link := _link(words, table.name, table.comment, table.qualified, ""):
            links.append(link)
        for column in table.columns:
            if link := _link(words, column.name, column.comment, table.qualified, column.name):
                links.append(link)
    links.sort(key=lambda link: (-link.score, link.table, link.column))
    return SchemaLinks(tuple(links[:_MOST_LINKS]))


def _link(words: set[str], name: str, comment: str, table: str, column: str) -> SchemaLink | None:
    own = set(split_words(name))
    shared = own & words
    telling = shared - _GENERIC
    described = (set(content_words(comment)) & words) - own - _GENERIC
    score = len(shared) / len(own) if own else 0.0
    if column:
        score = min(1.0, score + 0.25 * len(described)) if telling or described else 0.0
    if score < _MIN_SCORE or not (telling or described):
        return None
    return SchemaLink(" ".join(sorted(shared | described)), table, column, round(score, 3))
