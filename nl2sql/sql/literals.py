"""Masks the texts in a query that could be cell values."""

from __future__ import annotations

import re

from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from nl2sql.sql.names import quote_literal
from nl2sql.sql.parsing import read_tokens

_TEXTS = frozenset(
    (
        *(TokenType.STRING, TokenType.NATIONAL_STRING, TokenType.NATIONAL_RAW_STRING),
        *(TokenType.RAW_STRING, TokenType.HEREDOC_STRING, TokenType.UNICODE_STRING),
        *(TokenType.BYTE_STRING, TokenType.BIT_STRING, TokenType.HEX_STRING),
    )
)
_WITHHELD = "'…'"
# Words of SQL in quotes: units, dates and their formats, signs between parts of a text.
_WORD_OF_SQL = re.compile(
    r"[+-]?(?:\d{1,3} )?(?:(?:micro|milli)?second|minute|hour|day|week|month|quarter|year)s?"
    r"|now|localtime|utc|start of (?:day|month|year)|dow|doy|epoch|century|decade"
    r"|\d{4}(?:-\d\d(?:-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?)?)?)?"
    r"|(?:%-?[a-z][-/:., ]*)+"
    r"|(?:(?:fm)?(?:yyyy|month|mon|mm|day|dd|hh24|mi|ss|iw|ww)[-/:., ]*)+"
    r"|[-/:.,;| ]*",
    re.IGNORECASE,
)


def mask_texts(sql: str, dialect: str, known: str) -> str:
    """The query with the texts that are not in ``known`` replaced by ``'…'``, without comments.

    Units, dates and formats are shown too. A text that differs from ``known`` in case only is
    spelled as there. Double quotes count as those of a text on SQLite, which takes them for one
    where no column has the name. Empty if the query cannot be split into tokens.

    >>> mask_texts("SELECT 1 FROM t WHERE a = 'Oslo' AND b = 'x' -- y", "postgres", "in oslo?")
    "SELECT 1 FROM t WHERE a = 'oslo' AND b = '…'"
    """
    try:
        tokens = read_tokens(sql, dialect)
    except (SqlglotError, RecursionError):
        return ""
    parts: list[str] = []
    end = 0
    for token in tokens:
        if parts and token.start > end:
            parts.append(" ")
        parts.append(_show(token, sql[token.start : token.end + 1], dialect, known))
        end = token.end + 1
    return "".join(parts)


def _show(token: Token, written: str, dialect: str, known: str) -> str:
    is_name = dialect == "sqlite" and written.startswith('"')
    if not is_name and token.token_type not in _TEXTS:
        return written
    text = token.text
    if _WORD_OF_SQL.fullmatch(text):
        return written
    # The signs of a pattern of LIKE.
    core = text.strip("%_")
    found = re.search(rf"(?<!\w){re.escape(core)}(?!\w)", known, re.IGNORECASE) if core else None
    if found is None:
        return written if not core else _WITHHELD
    spelled = text.replace(core, found.group())
    if is_name or spelled == text:
        return written if spelled == text else _WITHHELD
    return quote_literal(spelled)
