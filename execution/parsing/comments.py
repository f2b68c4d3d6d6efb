"""Handles what sqlglot reads otherwise than databases do: comments in odd places, odd spaces.

The guard checks and renders the text without comments, so a mistake here could change what a query
means but not what it is allowed to do. Block comments nest in PostgreSQL and DuckDB, not in SQLite.
"""

from __future__ import annotations

import re

# The tokens in which no comment begins: quoted text and names, and dollar quotes. No letter may
# precede the E of an escape string or a dollar quote: ELSE'\' is a keyword and a text, a$$ a name.
_QUOTED_EVERYWHERE = r"""
        '(?:[^']|'')*'
      | "(?:[^"]|"")*"
      | `(?:[^`]|``)*`
"""
_QUOTED = rf"""
        (?<![\w$\x80-\U0010ffff])[eE]'(?:[^'\\]|\\.|'')*'
      | {_QUOTED_EVERYWHERE}
      | (?<![\w$\x80-\U0010ffff])\$(?P<tag>[A-Za-z_]\w*)?\$.*?\$(?(tag)(?P=tag))\$
"""
# SQLite has no escapes and no dollar quotes, but names in brackets.
_QUOTED_SQLITE = rf"""
        {_QUOTED_EVERYWHERE}
      | \[[^\]]*\]
"""


def _compile(quoted: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?P<quoted>{quoted}) | (?P<line>--[^\r\n]*) | (?P<block>/\*)", re.VERBOSE | re.DOTALL
    )


_TOKENS = {
    "postgres": _compile(_QUOTED),
    "sqlite": _compile(_QUOTED_SQLITE),
    "duckdb": _compile(_QUOTED),
}
# The characters that all databases read as spaces.
_SPACES = " \t\n\r\f\v"
_EDGE = re.compile(r"/\*|\*/")


def strip_comments(sql: str, dialect: str) -> str:
    """Replaces each comment in ``sql`` by spaces; what is behind it stays at its place.

    >>> strip_comments("SELECT 1 -- one\\n, '--' ORDER /**/ BY 1", "postgres")
    "SELECT 1       \\n, '--' ORDER      BY 1"
    """
    if "--" not in sql and "/*" not in sql:
        return sql
    token = _TOKENS[dialect]
    kept: list[str] = []
    at = 0
    while (match := token.search(sql, at)) is not None:
        if match["quoted"]:
            kept.append(sql[at : match.end()])
            at = match.end()
            continue
        end = match.end() if match["line"] else _find_end(sql, match.end(), dialect)
        if end is None:
            # The parser reports the error.
            return sql
        kept += [sql[at : match.start()], " " * (end - match.start())]
        at = end
    kept.append(sql[at:])
    return "".join(kept)


def _find_end(sql: str, at: int, dialect: str) -> int | None:
    """The end of the block comment whose first two characters end at ``at``; None without end."""
    depth = 1
    while (edge := _EDGE.search(sql, at)) is not None:
        at = edge.end()
        if edge[0] == "*/":
            depth -= 1
        elif dialect != "sqlite":
            depth += 1
        if depth == 0:
            return at
    return None


def find_odd_space(sql: str, dialect: str) -> str:
    """The first character outside quotes that is a space to sqlglot, but not to the database.

    Empty if there is none. ``sql`` must not contain comments.

    >>> find_odd_space("SELECT '\u3000', 1 AS\u3000a", "postgres") == "\u3000"
    True
    """
    outside = _TOKENS[dialect].sub("", sql)
    return next((sign for sign in outside if sign.isspace() and sign not in _SPACES), "")
