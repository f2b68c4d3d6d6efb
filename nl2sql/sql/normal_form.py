"""The normal form: answers of a model with the same form are one candidate.

It is built from the parsed tree and ignores aliases of tables and CTEs, case, parentheses, the
operand order of ``AND``, ``OR``, ``=``, ``<>`` and ``IN``, ``<`` for ``>``, the words ``INNER`` and
``OUTER``, ``count(1)``, and names of output columns. Queries with equal forms give the same rows;
queries that give the same rows can have different forms. One exception: SQLite compares ``a = b``
by the collation of its left column, but the form is the same as that of ``b = a``.

A form serves only for comparison and is not SQL.
"""

from __future__ import annotations

from functools import lru_cache

from sqlglot.errors import SqlglotError

from nl2sql.sql.form_scopes import Unresolved
from nl2sql.sql.form_writer import FormWriter, fold_identifiers
from nl2sql.sql.parsing import read_tree

# A service normalises the same few queries repeatedly: in rounds, in repairs, in votes.
_REMEMBERED = 8192


@lru_cache(_REMEMBERED)
def normal_form(sql: str, dialect: str = "postgres") -> str:
    """The form of a query; if it does not parse, the text with its white space folded.

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
