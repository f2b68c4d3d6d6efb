"""The clauses of a SELECT that group, order and cut its rows."""

from __future__ import annotations

import random

from tests.oracle.grammar.dialect import Dialect
from tests.oracle.grammar.expressions import Expressions
from tests.oracle.grammar.names import Names
from tests.oracle.grammar.scope import Columns, Scope

_WINDOWS = 0.05


class Clauses:
    """Writes the clauses, mostly so that the result does not depend on the order of rows."""

    def __init__(self, dialect: Dialect, rng: random.Random, expressions: Expressions) -> None:
        self._dialect = dialect
        self._rng = rng
        self._expressions = expressions

    def write_window(self, scope: Scope, names: Names) -> str:
        """WINDOW, whose name the scope then knows, or QUALIFY, or nothing."""
        key = self._expressions.write("int", scope.open(), 0)
        if self._dialect.has("qualify") and self._rng.random() < _WINDOWS:
            return f" QUALIFY rank() OVER (ORDER BY {key}) < 5"
        if not self._dialect.has("window_clause") or self._rng.random() >= _WINDOWS:
            return ""
        scope.named = names.draw(scope.names, plain=0.7)
        return f" WINDOW {scope.named} AS (PARTITION BY {key})"

    def write_group(self, scope: Scope, depth: int) -> tuple[str, list[tuple[str, str]]]:
        """GROUP BY, and the keys with their families; the scope is grouped from here on."""
        rng = self._rng
        inner = scope.open()
        keys: list[tuple[str, str]] = []
        for _ in range(rng.randint(1, 3)):
            family = self._expressions.draw_plain()
            columns = inner.list_columns(family)
            if columns and rng.random() < 0.8:
                keys.append((rng.choice(columns), family))
            elif depth > 0:
                text = self._expressions.write(family, inner, 1)
                if any(column in text for column in columns):
                    keys.append((f"({text})", family))
        keys = list(dict.fromkeys(keys))
        scope.grouped = {}
        for text, family in keys:
            scope.grouped.setdefault(family, []).append(text)
        if not keys:
            return "", []
        listed = ", ".join(text for text, _ in keys)
        forms = [listed, listed, ", ".join(str(at + 1) for at in range(len(keys)))]
        if self._dialect.has("grouping_sets"):
            forms += [
                f"ROLLUP ({listed})",
                f"CUBE ({listed})",
                f"GROUPING SETS (({listed}), ({keys[0][0]}), ())",
                f"GROUPING SETS (ROLLUP ({listed}), CUBE ({keys[0][0]}))",
                f"{keys[0][0]}, ROLLUP ({listed})",
            ]
            if self._dialect.has("group_distinct"):
                forms.append(f"DISTINCT ROLLUP ({listed}), CUBE ({keys[0][0]})")
            scope.grouped.setdefault("int", []).append(f"GROUPING({keys[0][0]})")
        form = rng.choice(forms)
        if form == listed or form == forms[2]:
            scope.grouped["int"] = [text for text, family in keys if family == "int"]
        # Ordinals count outputs, which begin with the keys.
        is_needed = form == forms[2] or rng.random() < 0.7
        return f" GROUP BY {form}", keys if is_needed else []

    def write_order(self, scope: Scope, columns: Columns, form: str) -> tuple[str, str]:
        """DISTINCT or nothing, and ORDER BY all outputs or nothing."""
        rng = self._rng
        can_sort = columns and all(family != "json" for _, family in columns)
        if not can_sort:
            return "", ""
        ordinals = ", ".join(
            f"{at + 1}{rng.choice(self._dialect.sortings)}" for at in range(len(columns))
        )
        if self._dialect.has("sort_using") and rng.random() < 0.01:
            ordinals = f"1 USING <{', ' * (len(columns) > 1)}" + ordinals.partition(", ")[2]
        roll = rng.random()
        can_pick = form == "plain" and scope.windows and self._dialect.has("distinct_on")
        if can_pick and roll < 0.06:
            key = self._expressions.write_leaf("int", scope.open())
            # A constant would be an ordinal.
            if not key[0].isdigit() and key[0] not in "-N":
                return f"DISTINCT ON ({key}) ", f" ORDER BY {key}, {ordinals}"
        if self._dialect.has("order_all") and roll < 0.09:
            return "", " ORDER BY ALL"
        if roll < 0.15:
            return "DISTINCT ", f" ORDER BY {ordinals}" if rng.random() < 0.5 else ""
        if roll < 0.18:
            return "ALL " if self._dialect.has("set_all") else "", ""
        return "", f" ORDER BY {ordinals}" if roll < 0.5 else ""

    def write_limit(self, most: str) -> str:
        if most == "one":
            return self._rng.choice((" LIMIT 1", " LIMIT 1 OFFSET 1"))
        forms = ["", "", f" LIMIT {self._rng.randint(0, 9)}", " LIMIT 3 OFFSET 2"]
        if self._dialect.has("fetch"):
            forms += [" FETCH FIRST 3 ROWS ONLY", " OFFSET 2", " OFFSET 1 ROW FETCH NEXT ROW ONLY"]
            forms += [" LIMIT (SELECT 2)", " LIMIT 2 + 1", " LIMIT ALL", " LIMIT NULL"]
        if self._dialect.has("limit_percent"):
            forms.append(" LIMIT 50%")
        if self._dialect.has("with_ties"):
            forms += [" FETCH FIRST 2 ROWS WITH TIES", " FETCH FIRST 2 ROWS WITH TIES"]
        return self._rng.choice(forms)
