"""Tables after a comma that are followed by joins."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from repair.normalize.facts import Facts


def comma_joins(tree: exp.Expr, facts: Facts) -> bool:
    """``FROM a, b JOIN c ON c.x = a.x`` becomes ``FROM a CROSS JOIN b JOIN c ON c.x = a.x``.

    A join binds more closely than a comma, so its condition cannot name the table before the comma;
    SQLite allows that.
    """
    if facts.target == "sqlite":
        return False
    changed = False
    for select in find_all(tree, exp.Select):
        joins = select.args.get("joins") or []
        source = select.args.get("from_")
        before = {source.this.alias_or_name.lower()} if source else set()
        hidden: set[str] = set()
        commas: list[exp.Join] = []
        for join in joins:
            if not any(join.args.get(key) for key in ("on", "using", "kind", "side", "method")):
                commas.append(join)
                hidden |= before
            asked = {column.table.lower() for column in _list_columns(join.args.get("on"))}
            if commas and asked & hidden:
                for comma in commas:
                    comma.set("kind", "CROSS")
                    changed = True
                commas, hidden = [], set()
            before.add(join.this.alias_or_name.lower())
    return changed


def _list_columns(condition: exp.Expr | None) -> list[exp.Column]:
    return list(find_all(condition, exp.Column)) if condition else []
