"""Expands a gold of defog's sql-eval into the queries that it accepts.

The notation of ``get_all_minimal_queries`` in defog-ai/sql-eval (``eval/eval.py``):

- ``{a, b}`` in a SELECT list: any non-empty subset of these columns is right;
- ``GROUP BY {}``: the chosen columns;
- ``;`` between two queries: either is right.

In addition, this module supports several groups (chosen independently), aliases inside braces (left
out where ``{}`` is filled), commas inside brackets, and braces or semicolons inside literals,
quoted names and comments, which have no meaning there. It works on text, since SQL parsers reject
braces.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, product

MAX_VARIANTS = 256
"""All variants are executed, so more than this is treated as a mistake."""
_TOO_MANY = f"stands for more than {MAX_VARIANTS} queries"

_TOKEN = re.compile(
    r"""
    (?P<opaque>
        [eE]'(?:[^'\\]|\\.|'')*'        # a literal with backslash escapes
      | '(?:[^']|'')*'
      | "(?:[^"]|"")*"
      | \$(?P<tag>\w*)\$.*?\$(?P=tag)\$ # a dollar-quoted literal
      | --[^\n]*
      | /\*.*?\*/
    )
    | (?P<word>\w+)
    | (?P<mark>[(){};,])
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_ALIAS = re.compile(r"\s+AS\s+(\w+|\"[^\"]+\")\s*\Z", re.IGNORECASE)


def expand_gold(query: str) -> tuple[str, ...]:
    """The distinct queries that the gold accepts, the one with the most columns first.

    Raises ValueError for unbalanced braces, no query, or more than ``MAX_VARIANTS``.

    >>> expand_gold("SELECT {u.id, u.name}, count(*) FROM u GROUP BY {}; SELECT ';'")[:2]
    ('SELECT u.id, u.name, count(*) FROM u GROUP BY u.id, u.name', 'SELECT u.id, count(*) FROM u \
GROUP BY u.id')
    """
    variants: dict[str, None] = {}
    for alternative in _split(query, ";"):
        if not alternative:
            continue
        for variant in _expand(alternative):
            variants[variant] = None
            if len(variants) > MAX_VARIANTS:
                raise ValueError(_TOO_MANY)
    if not variants:
        raise ValueError("contains no query")
    return tuple(variants)


@dataclass(frozen=True)
class _ColumnGroup:
    columns: tuple[str, ...]


@dataclass(frozen=True)
class _Blank:
    """``{}``: filled with the columns chosen from ``groups``, positions in the template."""

    groups: tuple[int, ...]


_Template = list[str | _ColumnGroup | _Blank]


def _expand(query: str) -> Iterator[str]:
    """The variants of one alternative, those with more columns first."""
    template = _parse(query)
    groups = {at: part for at, part in enumerate(template) if isinstance(part, _ColumnGroup)}
    if math.prod(2 ** len(group.columns) - 1 for group in groups.values()) > MAX_VARIANTS:
        raise ValueError(_TOO_MANY)
    choices = [[(at, chosen) for chosen in _choose(group.columns)] for at, group in groups.items()]
    picks = sorted(product(*choices), key=lambda pick: -sum(len(chosen) for _, chosen in pick))
    for pick in picks:
        yield _render(template, dict(pick))


def _choose(columns: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for size in range(len(columns), 0, -1):
        yield from combinations(columns, size)


def _parse(query: str) -> _Template:
    """Splits the query into text, groups and blanks."""
    template: _Template = []
    # For each open bracket, the groups of the present SELECT in it.
    scopes: list[list[int]] = [[]]
    inside: str | None = None
    for match in _TOKEN.finditer(query):
        token = match.group()
        if match["mark"] == "}":
            if inside is None:
                raise ValueError("has a } without its {")
            if inside.strip():
                columns = tuple(_split(inside, ","))
                if not all(columns):
                    raise ValueError(f"has an empty column in {{{inside}}}")
                scopes[-1].append(len(template))
                template.append(_ColumnGroup(columns))
            else:
                template.append(_Blank(_find_groups(template, scopes[-1])))
            inside = None
        elif match["mark"] == "{":
            if inside is not None:
                raise ValueError("has a { inside of braces")
            inside = ""
        elif inside is not None:
            inside += token
        else:
            if token == "(":
                scopes.append([])
            elif token == ")" and len(scopes) > 1:
                scopes.pop()
            elif match["word"] and token.upper() == "SELECT":
                scopes[-1] = []  # the other half of a UNION
            template.append(token)
    if inside is not None:
        raise ValueError("has a { without its }")
    return template


def _find_groups(template: _Template, scope: list[int]) -> tuple[int, ...]:
    """The groups of the same SELECT or, like in sql-eval, the first group of the query."""
    if scope:
        return tuple(scope)
    for at, part in enumerate(template):
        if isinstance(part, _ColumnGroup):
            return (at,)
    raise ValueError("has {} before any column in braces")


def _render(template: _Template, chosen: Mapping[int, tuple[str, ...]]) -> str:
    parts = []
    for at, part in enumerate(template):
        if isinstance(part, _ColumnGroup):
            parts.append(", ".join(chosen[at]))
        elif isinstance(part, _Blank):
            columns = [column for group in part.groups for column in chosen[group]]
            parts.append(", ".join(_ALIAS.sub("", column) for column in columns))
        else:
            parts.append(part)
    return "".join(parts)


def _split(text: str, separator: str) -> list[str]:
    """The stripped parts between separators that are not in literals or brackets."""
    parts, start, depth = [], 0, 0
    for match in _TOKEN.finditer(text):
        mark = match["mark"]
        if mark in ("(", "{"):
            depth += 1
        elif mark in (")", "}"):
            depth -= 1
        elif mark == separator and (depth <= 0 or separator == ";"):
            parts.append(text[start : match.start()].strip())
            start = match.end()
    return [*parts, text[start:].strip()]
