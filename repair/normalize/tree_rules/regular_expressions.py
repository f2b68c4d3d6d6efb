"""Matches with regular expressions."""

from __future__ import annotations

import re

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from repair.normalize.calls import list_calls, read_text, write, write_operand
from repair.normalize.facts import Facts
from repair.normalize.readers import read_part

_CALLS = ("REGEXP_LIKE", "REGEXP_CONTAINS", "REGEXP_MATCHES", "REGEXP")
_PLAIN = re.compile(r"(\^?)((?:[\w\s@'&,/-]|\\\.)*)(\$?)")


def regular_expressions(tree: exp.Expr, facts: Facts) -> bool:
    """Translates ``REGEXP``, ``RLIKE`` and ``REGEXP_LIKE``.

    SQLite has no regular expressions: plain words, with or without an anchor, become LIKE.
    """
    changed = False
    for call in list_calls(tree, _CALLS):
        is_own = facts.target == "duckdb" and call.name.upper() == "REGEXP_MATCHES"
        if len(call.expressions) in (2, 3) and not is_own:
            flags = read_text(call.expressions[2]) if len(call.expressions) == 3 else ""
            new = _build(call.expressions[0], call.expressions[1], flags or "", facts)
            if new is not None:
                call.replace(new)
                changed = True
    if facts.target == "sqlite":
        for node in list(find_all(tree, exp.RegexpLike, exp.RegexpILike)):
            if (new := _build(node.this, node.expression, "", facts)) is not None:
                node.replace(new)
                changed = True
    return changed


def _build(value: exp.Expr, pattern: exp.Expr, flags: str, facts: Facts) -> exp.Expr | None:
    if facts.target == "postgres":
        operator = "~*" if "i" in flags else "~"
        return write(f"({{x}} {operator} {{y}})", facts, x=value, y=pattern)
    if facts.target == "duckdb":
        option = ", 'i'" if "i" in flags else ""
        return write(f"REGEXP_MATCHES({{x}}, {{y}}{option})", facts, x=value, y=pattern)
    text = read_text(pattern)
    likes = [_read_plain(part) for part in text.split("|")] if text else [None]
    if None in likes:
        return None
    operand = write_operand(value, facts)
    quoted = [exp.Literal.string(like).sql() for like in likes]
    return read_part(f"({' OR '.join(f'{operand} LIKE {like}' for like in quoted)})", "sqlite")


def _read_plain(pattern: str) -> str | None:
    """The equivalent pattern for LIKE; None if there is none.

    >>> _read_plain("^Mc"), _read_plain("a.*b"), _read_plain("son$")
    ('Mc%', None, '%son')
    """
    found = _PLAIN.fullmatch(pattern)
    if found is None or "_" in found[2] or not found[2]:
        return None
    text = found[2].replace("\\.", ".")
    return f"{'' if found[1] else '%'}{text}{'' if found[3] else '%'}"
