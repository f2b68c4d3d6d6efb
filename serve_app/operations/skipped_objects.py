"""Lists for the operator what introspection left out of a database, and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nl2sql.catalog import Skipped
from nl2sql.words import count

_MOST_NAMES = 20
_LONGEST_NAME = 100


def describe_skipped(skipped: Iterable[Skipped]) -> list[str]:
    """One line for every kind and reason, the commonest first, with the first names.

    >>> describe_skipped([Skipped("view", name, "it is broken") for name in "ab"])
    ['2 views: it is broken (a, b)']
    >>> describe_skipped([Skipped("view", f"v{n}", "it is broken") for n in range(21)])[0][-12:]
    'v18, v19, …)'
    """
    names: dict[tuple[str, str], list[str]] = {}
    for item in skipped:
        names.setdefault((item.kind, item.reason), []).append(item.name)
    ordered = sorted(names.items(), key=lambda entry: (-len(entry[1]), entry[0]))
    return [
        f"{count(len(found), kind)}: {reason} ({_list(found)})" for (kind, reason), found in ordered
    ]


def list_remedies(skipped: Iterable[Skipped], *, most: int = 10) -> list[str]:
    """The distinct remedies in order; the last line counts those beyond ``most``.

    >>> list_remedies([Skipped("table", n, "", remedy=f"GRANT {n};") for n in "abca"], most=2)
    ['GRANT a;', 'GRANT b;', '-- and 1 more']
    """
    found = list(dict.fromkeys(item.remedy for item in skipped if item.remedy))
    more = len(found) - most
    return found if more <= 0 else [*found[:most], f"-- and {more:,} more"]


def _list(names: Sequence[str]) -> str:
    more = ", …" if len(names) > _MOST_NAMES else ""
    return ", ".join(map(_show, names[:_MOST_NAMES])) + more


def _show(text: str) -> str:
    """The text on one line, shortened.

    >>> _show("two\\nlines")
    'two lines'
    """
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_NAME else f"{line[: _LONGEST_NAME - 1]}…"
