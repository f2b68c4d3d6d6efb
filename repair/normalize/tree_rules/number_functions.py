"""Functions of numbers under other names."""

from __future__ import annotations

from sqlglot import exp

from repair.normalize.calls import replace_calls, write
from repair.normalize.facts import Facts

_ALL = ("postgres", "sqlite", "duckdb")
_TEMPLATES: dict[str, dict[str, str]] = {
    "AVERAGE": dict.fromkeys(_ALL, "AVG({x})"),
    "MEAN": dict.fromkeys(("postgres", "sqlite"), "AVG({x})"),
    "STDEV": dict.fromkeys(("postgres", "duckdb"), "STDDEV({x})"),
    "STD": dict.fromkeys(("postgres", "duckdb"), "STDDEV_POP({x})"),
    "STDEVP": dict.fromkeys(("postgres", "duckdb"), "STDDEV_POP({x})"),
    "VAR": dict.fromkeys(("postgres", "duckdb"), "VARIANCE({x})"),
    "VARP": dict.fromkeys(("postgres", "duckdb"), "VAR_POP({x})"),
    "SQUARE": dict.fromkeys(_ALL, "({x} * {x})"),
    "SQR": dict.fromkeys(_ALL, "SQRT({x})"),
    "TOTAL": dict.fromkeys(("postgres", "duckdb"), "COALESCE(SUM({x}), 0)"),
    "MEDIAN": {"postgres": "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY {x})"},
}


def number_functions(tree: exp.Expr, facts: Facts) -> bool:
    """Translates ``AVERAGE``, ``STDEV``, ``SQUARE``, ``TOTAL``, ``MEDIAN``."""

    def build(call: exp.Anonymous) -> exp.Expr | None:
        template = _TEMPLATES[call.name.upper()].get(facts.target)
        args = call.expressions
        if template is None or len(args) != 1:
            return None
        return write(template, facts, x=args[0])

    return replace_calls(tree, _TEMPLATES, build)
