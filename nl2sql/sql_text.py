"""SQL out of a model's answer, and the normal form under which two answers are one candidate."""

from __future__ import annotations

import re

import sqlglot
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.normalize_identifiers import normalize_identifiers

_THINKING = re.compile(r"<think>.*?(</think>|\Z)", re.DOTALL)
_FENCE = re.compile(r"```[a-zA-Z]*\s*\n?(.*?)(?:```|\Z)", re.DOTALL)
_QUERY = re.compile(r"\b(?:SELECT|WITH)\b.*", re.DOTALL | re.IGNORECASE)


def extract_sql(text: str) -> str:
    """The query in a model's answer; empty when there is none.

    >>> extract_sql("Sure!\\n```sql\\nSELECT 1;\\n```\\nDone.")
    'SELECT 1'
    >>> extract_sql("The answer is SELECT 2 ;")
    'SELECT 2'
    """
    text = _THINKING.sub("", text)
    if fence := _FENCE.search(text):
        text = fence.group(1)
    query = _QUERY.search(text)
    return query.group(0).strip().rstrip(";").strip() if query else ""


def normal_form(sql: str, dialect: str = "postgres") -> str:
    """A spelling in which queries that differ in case, space and comments only are the same.

    >>> normal_form("select  A from T -- note") == normal_form("SELECT a FROM t")
    True
    """
    try:
        tree = normalize_identifiers(sqlglot.parse_one(sql, dialect=dialect), dialect=dialect)
        return tree.sql(dialect, comments=False)
    except (SqlglotError, RecursionError):
        return " ".join(sql.split())
