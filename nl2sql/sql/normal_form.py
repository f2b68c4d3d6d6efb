"""The normal form under which two answers of a model are one candidate.

Built from the parsed tree, so that nothing depends on spelling: aliases of tables and CTEs, case,
parentheses, the order of ``AND``, ``OR``, ``=``, ``<>`` and ``IN``, ``<`` for ``>``, ``INNER`` and
``OUTER``, ``count(1)``, names of output columns. Two queries of one form give the same rows; many
that give the same rows have different forms. One exception: in SQLite ``a = b`` compares by the
collation of its left column, and is here the same as ``b = a``.

A form is for comparing. It is no SQL.
"""

from __future__ import annotations

from functools import lru_cache

from sqlglot.errors import SqlglotError

from nl2sql.sql.form_scopes import Unresolved
from nl2sql.sql.form_writer import FormWriter, fold_identifiers
from nl2sql.sql.parsing import read_tree

# A service sees the same few queries over and over: in rounds, in repairs, in votes.
_REMEMBERED = 8192


@lru_cache(_REMEMBERED)
def normal_form(sql: str, dialect: str = "postgres") -> str:
    """The form of a query; of what does not parse, the text with its white space folded.

    >>> normal_form("select T1.A from T as T1 -- note") == normal_form("SELECT a FROM t")
    True
    """
    try:
        tree = read_tree(sql, dialect)
        try:
            return FormWriter(dialect).write(tree)
        except Unresolved:
            return fold_identifiers(tree.copy()).sql(dialect, comments=False, copy=False)
    except (SqlglotError, RecursionError):
        return " ".join(sql.split())
