"""Replaces what is no SQL but meant as SQL: escapes, entities, typographic spaces and marks.

Nothing inside quotes, dollar quotes or comments changes, except that a literal in typographic
quotes gets plain ones.
"""

from __future__ import annotations

import html
import re

from nl2sql.sql.statements import LITERAL

_ENTITY = r"&(?:lt|gt|amp|quot|apos|nbsp|#\d{1,6}|#x[0-9a-f]{1,5});"
_SPACES = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
_NOTHING = "\u00ad\u200b-\u200d\u2060\ufeff"
# Full-width ! % ( ) * + , - . / ; < = >, in the order of ASCII; letters and digits may be names.
_WIDE = "\uff01\uff05\uff08-\uff0f\uff1b-\uff1e"
_WIDE_OFFSET = 0xFF01 - ord("!")
_QUOTES, _DOUBLE = "\u2018\u2019\u201a\u2032\u00b4", "\u201c\u201d\u201e\u2033"
_SIGNS = {"\u2265": ">=", "\u2264": "<=", "\u2260": "<>", "\u2212": "-", "\u2013": "-"}
_ODD = re.compile(
    rf"(?P<escape>\\[nrt])|(?P<entity>{_ENTITY})|(?P<space>[{_SPACES}])|(?P<nothing>[{_NOTHING}])"
    rf"|(?P<wide>[{_WIDE}])|(?P<sign>[\u2265\u2264\u2260\u2212]|\u2013(?=\s*\d))"
    rf"|[{_QUOTES}](?P<text>[^{_QUOTES}]*)[{_QUOTES}]|[{_DOUBLE}](?P<name>[^{_DOUBLE}]*)[{_DOUBLE}]",
    re.IGNORECASE,
)
_TOKEN = re.compile(rf"{LITERAL.pattern}|{_ODD.pattern}", re.DOTALL | re.IGNORECASE)
# In prose before the query an apostrophe opens no literal.
_BEGINS = re.compile(r"(?:\\[nrt]|\b)(?:SELECT|WITH)\b", re.IGNORECASE)


def clean_query(text: str) -> str:
    r"""The text with plain characters from its first query on.

    >>> clean_query("SELECT\u00a0a FROM t\\nWHERE b = \u2018it's\u2019 AND c &lt; 5")
    "SELECT a FROM t\nWHERE b = 'it''s' AND c < 5"
    >>> clean_query("SELECT '&lt;', '\\n'&nbsp;")
    "SELECT '&lt;', '\\n' "
    """
    if not _ODD.search(text):
        return text
    begins = _BEGINS.search(text)
    at = begins.start() if begins else 0
    return text[:at] + _TOKEN.sub(_replace, text[at:])


def _replace(match: re.Match[str]) -> str:
    token = match[0]
    match match.lastgroup:
        case "escape":
            return "\n" if token == "\\n" else " "
        case "entity":
            return html.unescape(token).replace("\u00a0", " ")
        case "space":
            return " "
        case "nothing":
            return ""
        case "wide":
            return chr(ord(token) - _WIDE_OFFSET)
        case "sign":
            return _SIGNS[token]
        case "text":
            return "'" + token[1:-1].replace("'", "''") + "'"
        case "name":
            return '"' + token[1:-1].replace('"', '""') + '"'
        case _:
            return token
