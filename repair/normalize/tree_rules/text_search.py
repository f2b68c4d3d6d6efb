"""Functions that search one text in another."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from repair.normalize.calls import replace_calls, write
from repair.normalize.facts import Facts

_PLACE = {"postgres": "STRPOS({x}, {y})", "sqlite": "INSTR({x}, {y})", "duckdb": "STRPOS({x}, {y})"}
_TEMPLATES = {
    "INSTR": {"postgres": "STRPOS({x}, {y})"},
    "STRPOS": {"sqlite": "INSTR({x}, {y})"},
    # The searched text is the second argument of these.
    "CHARINDEX": {target: sql.replace("{x}, {y}", "{y}, {x}") for target, sql in _PLACE.items()},
    "LOCATE": {target: sql.replace("{x}, {y}", "{y}, {x}") for target, sql in _PLACE.items()},
    "CONTAINS": {"postgres": "(STRPOS({x}, {y}) > 0)", "sqlite": "(INSTR({x}, {y}) > 0)"},
    "STARTS_WITH": {"sqlite": "(SUBSTR({x}, 1, LENGTH({y})) = {y})"},
    "STARTSWITH": {
        "postgres": "STARTS_WITH({x}, {y})",
        "sqlite": "(SUBSTR({x}, 1, LENGTH({y})) = {y})",
        "duckdb": "STARTS_WITH({x}, {y})",
    },
    "ENDS_WITH": {
        "postgres": "(RIGHT({x}, LENGTH({y})) = {y})",
        "sqlite": "(SUBSTR({x}, -LENGTH({y})) = {y})",
    },
    "ENDSWITH": {
        "postgres": "(RIGHT({x}, LENGTH({y})) = {y})",
        "sqlite": "(SUBSTR({x}, -LENGTH({y})) = {y})",
        "duckdb": "ENDS_WITH({x}, {y})",
    },
}


def text_search(tree: exp.Expr, facts: Facts) -> bool:
    """Translates ``CHARINDEX``, ``LOCATE``, ``INSTR``, ``POSITION``, ``CONTAINS`` and others."""

    def build(call: exp.Anonymous) -> exp.Expr | None:
        template = _TEMPLATES[call.name.upper()].get(facts.target)
        if template is None or len(call.expressions) != 2:
            return None
        x, y = call.expressions
        return write(template, facts, x=x, y=y)

    changed = replace_calls(tree, _TEMPLATES, build)
    if facts.target == "sqlite":
        for node in list(find_all(tree, exp.StrPosition)):
            node.replace(write(_PLACE["sqlite"], facts, x=node.this, y=node.args["substr"]))
            changed = True
    return changed
