"""Hints to other databases' planners."""

from __future__ import annotations

import re

from repair.normalize.facts import Facts

_HINTS = re.compile(
    r"\s*\b(?:WITH\s*\(\s*(?:NOLOCK|READUNCOMMITTED|INDEX\b[^()]*)\s*\)"
    r"|(?:USE|FORCE|IGNORE)\s+(?:INDEX|KEY)\s*\([^()]*\)"
    r"|OPTION\s*\(\s*(?:RECOMPILE|MAXDOP\b[^()]*)\s*\))",
    re.IGNORECASE,
)


def table_hints(sql: str, facts: Facts) -> str:
    """Removes ``WITH (NOLOCK)``, ``USE INDEX (…)``, ``OPTION (RECOMPILE)``: they change no result.

    >>> table_hints("SELECT a FROM t WITH (NOLOCK) WHERE b = 1", Facts("postgres"))
    'SELECT a FROM t WHERE b = 1'
    """
    return _HINTS.sub("", sql)
