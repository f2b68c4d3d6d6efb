"""What no response may hold: text of exceptions, of the code and of its paths."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_INTERNALS = re.compile(
    r"Traceback|site-packages|\.py\b|psycopg|sqlglot|sqlite3\.|duckdb\.\w*Error|asyncio|pydantic"
    r"|\b[A-Z]\w*(?:Error|Exception)\b|failed unexpectedly|server_error|Internal Server Error"
)
# Numbers of the service's own, which may spell a withheld number by chance.
_OWN = re.compile(r"chatcmpl-[0-9a-f]+|\"created\":\s*\d+|(?<=\d)\.\d+")


def hide_own_numbers(text: str) -> str:
    """A response without its identifiers, times and decimals."""
    return _OWN.sub("", text)


def find_internals(text: str, sent: str, paths: Iterable[str]) -> Iterator[str]:
    """What ``text`` tells of the service's inside, unless it was ``sent`` there.

    >>> list(find_internals("KeyError in /srv/app/guard.py", "SELECT 1", ["/srv/app"]))
    ['.py is told', '/srv/app is told', 'KeyError is told']
    """
    found = {match[0] for match in _INTERNALS.finditer(text)}
    found |= {path for path in paths if path in text}
    yield from (f"{word} is told" for word in sorted(found) if word not in sent)
