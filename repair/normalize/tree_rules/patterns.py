"""LIKE, ILIKE and GLOB."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from repair.normalize.calls import list_inner_first, read_text, write
from repair.normalize.facts import Facts

_OTHERS = frozenset({"date", "timestamp", "integer", "number", "float", "boolean"})
_WILD = str.maketrans({"*": "%", "?": "_"})


def patterns(tree: exp.Expr, facts: Facts) -> bool:
    """``ILIKE`` becomes SQLite's LIKE, SQLite's ``GLOB`` PostgreSQL's LIKE; LIKE needs a text.

    ``day LIKE '2024%'`` becomes ``CAST(day AS TEXT) LIKE '2024%'``.
    """
    changed = False
    if facts.target == "sqlite":
        for ilike in list_inner_first(tree, exp.ILike):
            ilike.replace(exp.Like(this=ilike.this, expression=ilike.expression))
            changed = True
        return changed
    if facts.target == "postgres":
        for glob in list_inner_first(tree, exp.Glob):
            text = read_text(glob.expression)
            if text is not None and not set(text) & set("[]%_\\"):
                pattern = exp.Literal.string(text.translate(_WILD))
                glob.replace(exp.Like(this=glob.this, expression=pattern))
                changed = True
    for like in list(find_all(tree, exp.Like, exp.ILike)):
        if facts.kind_of(like.this) in _OTHERS:
            like.set("this", write("CAST({x} AS TEXT)", facts, x=like.this))
            changed = True
    return changed
