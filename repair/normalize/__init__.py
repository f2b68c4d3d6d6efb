"""Dialect normalisation: translates a query of mixed dialects into the target's dialect.

First the spelling rules make it parsable, then a parser that knows no functions builds a tree, then
the tree rules replace what the target lacks, and sqlglot writes the tree. If the target's grammar
cannot parse it, those of other dialects are tried. Runs nothing, and knows nothing of the guard.

sqlglot's own translation is not used for functions: in a query of mixed dialects it takes their
meaning from one dialect, drops arguments (``DATE(day, '+1 month')``) and exchanges them
(``TIMESTAMPDIFF``), and it lacks most dates of SQLite.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp
from sqlglot.errors import SqlglotError

from nl2sql.catalog import Table
from repair.corrected import MOST_CHARS, MOST_TOKENS, Corrected
from repair.normalize.calls import calls
from repair.normalize.clauses import alias_references, distinct_order
from repair.normalize.dates import date_formats, date_parts, date_shifts, date_spans
from repair.normalize.facts import Facts
from repair.normalize.readers import read_foreign, read_query, write_query
from repair.normalize.spelling import join_tokens, operators, quoted_names, split_tokens
from repair.normalize.values import booleans, double_quoted_text, numbers, text_numbers, texts

TextRule = Callable[[str, Facts], str]
TreeRule = Callable[[exp.Expr, Facts], bool]

TEXT_RULES: tuple[TextRule, ...] = (operators, quoted_names)
"""Each takes a query, which may not parse, and returns it, changed if the rule applies."""

TREE_RULES: tuple[TreeRule, ...] = (
    double_quoted_text,
    alias_references,
    calls,
    date_spans,
    date_parts,
    date_formats,
    date_shifts,
    texts,
    numbers,
    booleans,
    text_numbers,
    distinct_order,
)
"""Each changes the tree in place and returns whether it did; applied in this order."""

# Words and signs that sqlglot adds, drops or spells anew without changing what is meant.
_NOISE = frozenset("AS INNER OUTER ASC ( ) ; != <>".split())


def normalize_dialect(
    sql: str, target: str = "postgres", *, tables: Sequence[Table] = ()
) -> Corrected | None:
    """The query in the dialect ``target``: ``postgres``, ``sqlite`` or ``duckdb``.

    ``tables`` are those that the query may use: their names distinguish names from text in double
    quotes, the types of their columns show where casts are needed. None if no rule applies, if the
    query still does not parse, or if it is too long. ``rewritten`` is what sqlglot writes in
    another way by itself, ``read_as_DIALECT`` what only another dialect's grammar could parse.

    >>> made = normalize_dialect("SELECT TOP 3 `name` FROM users WHERE YEAR(born) == 1999")
    >>> made.sql
    'SELECT "name" FROM users WHERE EXTRACT(YEAR FROM CAST(born AS TIMESTAMP)) = 1999 LIMIT 3'
    >>> made.rules
    ('operators', 'read_as_postgres', 'date_parts')
    >>> normalize_dialect("SELECT name FROM users")
    """
    if len(sql) > MOST_CHARS or len(split_tokens(sql)) > MOST_TOKENS:
        return None
    try:
        return _normalize(sql.strip().rstrip(";").rstrip(), Facts(target, tables))
    except (SqlglotError, RecursionError):
        return None


def _normalize(sql: str, facts: Facts) -> Corrected | None:
    """Raises SqlglotError if a rule wrote what does not parse, RecursionError."""
    applied: list[str] = []
    text = sql = join_tokens(split_tokens(sql))
    for text_rule in TEXT_RULES:
        changed = text_rule(text, facts)
        if changed != text:
            applied.append(text_rule.__name__)
            text = changed
    tree = read_query(text, facts.target)
    if tree is None:
        foreign = read_foreign(text, facts.target)
        if foreign is None:
            return None
        tree, source = foreign
        applied.append(f"read_as_{source}")
    applied += [tree_rule.__name__ for tree_rule in TREE_RULES if tree_rule(tree, facts)]
    written = write_query(tree, facts.target)
    if not applied and _list_words(written) == _list_words(sql):
        return None
    if not written or read_query(written, facts.target) is None:
        return None
    return Corrected(written, tuple(applied) or ("rewritten",))


def _list_words(sql: str) -> list[str]:
    return [token.upper for token in split_tokens(sql) if token.upper not in _NOISE]
