"""Keeps the spelling of names in queries on SQLite, whose rules for names are lax.

Names compare without case, and are rendered as the query wrote them. A word in double quotes is a
name if something visible has that name, and a string otherwise; ``name_resolution`` knows what is
visible. If it saw more than SQLite, the word would stay a name, and a name in backticks that SQLite
does not find is an error, never another result. A CTE may recurse without the word RECURSIVE.
"""

from __future__ import annotations

from sqlglot import exp

from nl2sql.sql.names import fold_name, quote_name

_SPELLING = "spelling"
_IN_DOUBLE_QUOTES = "in_double_quotes"
_BARE = "bare"


def record_spelling(tree: exp.Expr, sql: str) -> None:
    """Records on each name its spelling in ``sql``, before case is normalised."""
    for node in tree.walk():
        if isinstance(node, exp.Identifier):
            node.meta[_SPELLING] = node.name
            start = node.meta_get("start")
            node.meta[_IN_DOUBLE_QUOTES] = start is not None and sql[start] == '"'
        elif isinstance(node, exp.Table) and not node.db:
            node.meta[_BARE] = True
    for cte in tree.find_all(exp.CTE):
        if isinstance(cte.parent, exp.With) and _reads(cte, fold_name(cte.alias, "sqlite")):
            cte.parent.set("recursive", True)


def is_in_double_quotes(name: exp.Identifier) -> bool:
    """Whether the query wrote the name in double quotes: if nothing has it, it is a string."""
    return bool(name.meta_get(_IN_DOUBLE_QUOTES))


def read_spelling(name: exp.Identifier) -> str:
    """The name in the query's spelling."""
    return str(name.meta_get(_SPELLING) or name.name)


def restore_spelling(tree: exp.Expr) -> None:
    """Restores the query's spelling of each name, with quotes only where needed, in place."""
    for name in tree.find_all(exp.Identifier):
        spelling = read_spelling(name)
        name.set("this", spelling)
        name.set("quoted", quote_name(spelling, "sqlite") != spelling)


def _reads(cte: exp.CTE, name: str) -> bool:
    return any(
        table.meta_get(_BARE) and fold_name(table.name, "sqlite") == name
        for table in cte.this.find_all(exp.Table)
    )
