"""Translates a query of any dialect, or of several at once, into the target's dialect.

First the text rules make it parsable, then a parser that knows no functions builds a tree, then the
tree rules replace constructs of other dialects. If the target's grammar cannot parse it, those of
other dialects are tried. Runs nothing, and knows nothing of the guard.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot.errors import SqlglotError

from nl2sql.catalog import Table
from repair.limits import MOST_CHARS, MOST_TOKENS
from repair.normalize import text_rules, tree_rules
from repair.normalize.facts import Facts
from repair.normalize.readers import read_foreign, read_query, write_query
from repair.normalize.tokens import split_tokens


@dataclass(frozen=True, slots=True)
class Normalized:
    """A query in the target's dialect, and the names of the applied rules, in their order."""

    sql: str
    rules: tuple[str, ...]


def normalize_dialect(
    sql: str, target: str = "postgres", *, tables: Sequence[Table] = ()
) -> Normalized | None:
    """The query in the dialect ``target``: ``postgres``, ``sqlite`` or ``duckdb``.

    ``tables`` are those that the query may use: their names distinguish names from text in double
    quotes, the types of their columns show where casts are needed. None if no rule applies, if the
    query still does not parse, or if it is too long.

    >>> made = normalize_dialect("SELECT TOP 3 [name] FROM users WHERE YEAR(born) == 1999")
    >>> made.sql
    'SELECT name FROM users WHERE EXTRACT(YEAR FROM CAST(born AS TIMESTAMP)) = 1999 LIMIT 3'
    >>> made.rules
    ('top', 'brackets', 'operators', 'date_parts')
    >>> normalize_dialect("SELECT name FROM users")
    """
    if len(sql) > MOST_CHARS or len(split_tokens(sql)) > MOST_TOKENS:
        return None
    facts = Facts(target, tables)
    try:
        return _normalize(sql.strip().rstrip(";").rstrip(), facts)
    except (SqlglotError, RecursionError):
        return None


def _normalize(sql: str, facts: Facts) -> Normalized | None:
    """Raises SqlglotError if a rule wrote what does not parse, RecursionError."""
    applied: list[str] = []
    text = sql
    for text_rule in text_rules.RULES:
        changed = text_rule(text, facts)
        if changed != text:
            applied.append(text_rule.__name__)
            text = changed
    tree = read_query(text, facts.target)
    must_write = tree is None
    if tree is None:
        foreign = read_foreign(text, facts.target)
        if foreign is None:
            return None
        tree, source = foreign
        applied.append(f"read_as_{source}")
    for tree_rule in tree_rules.RULES:
        if tree_rule(tree, facts):
            applied.append(tree_rule.__name__)
            must_write = True
    if must_write:
        text = write_query(tree, facts.target, copy=False)
    if not applied or text == sql or (must_write and read_query(text, facts.target) is None):
        return None
    return Normalized(text, tuple(applied))
