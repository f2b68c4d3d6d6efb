"""Functions for the current date and time."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from repair.normalize.calls import read_text, replace_calls, write
from repair.normalize.facts import Facts

_NOW = (
    "NOW GETDATE SYSDATE SYSDATETIME SYSTIMESTAMP GETUTCDATE UTC_TIMESTAMP CURRENT_TIMESTAMP "
    "CURRENT_DATETIME LOCALTIME LOCALTIMESTAMP"
).split()
_TODAY = ["CURDATE", "TODAY", "CURRENT_DATE", "UTC_DATE"]
_CALLED = ["DATE", "DATETIME"]
_BARE = {"SYSDATE": "CURRENT_TIMESTAMP", "SYSTIMESTAMP": "CURRENT_TIMESTAMP"}
_OWN = {"postgres": {"NOW"}, "sqlite": set(_CALLED), "duckdb": {"NOW", "TODAY", "CURRENT_DATE"}}


def current_time(tree: exp.Expr, facts: Facts) -> bool:
    """``CURDATE()``, ``GETDATE()``, ``SYSDATE``, ``DATE('now')`` become standard SQL."""

    def build(call: exp.Anonymous) -> exp.Expr | None:
        name, args = call.name.upper(), call.expressions
        if name in _OWN[facts.target]:
            return None
        if name in _CALLED:
            is_now = len(args) == 1 and (read_text(args[0]) or "").lower() == "now"
            word = "CURRENT_DATE" if name == "DATE" else "CURRENT_TIMESTAMP"
            return write(word, facts) if is_now else None
        if args and not (len(args) == 1 and args[0].is_int):
            return None
        return write("CURRENT_DATE" if name in _TODAY else "CURRENT_TIMESTAMP", facts)

    changed = replace_calls(tree, [*_NOW, *_TODAY, *_CALLED], build)
    for column in list(find_all(tree, exp.Column)):
        word = _BARE.get(column.name.upper())
        if word and not column.table and column.name.lower() not in facts.names:
            column.replace(write(word, facts))
            changed = True
    return changed
