"""How what stands in FROM is joined: by keys, by names, by commas, by nothing."""

from __future__ import annotations

import random
from collections.abc import Sequence

from tests.oracle.grammar.dialect import Dialect
from tests.oracle.grammar.expressions import Expressions
from tests.oracle.grammar.names import Names
from tests.oracle.grammar.scope import Scope, Source


class Joins:
    """Joins one source after another to a text."""

    def __init__(
        self, dialect: Dialect, rng: random.Random, names: Names, expressions: Expressions
    ) -> None:
        self._dialect = dialect
        self._rng = rng
        self._names = names
        self._expressions = expressions

    def join(self, text: str, item: str, source: Source, scope: Scope) -> tuple[str, str]:
        """The text with ``item`` joined to it; a condition for WHERE where commas join them."""
        rng = self._rng
        before = list(scope.sources)
        common = _find_common(before, source)
        scope.sources.append(source)
        reaches = item.startswith("LATERAL") or "(" in item.split(" AS ")[0]
        link = self._link(before, source)
        if self._dialect.has("other_joins") and not reaches and rng.random() < 0.1:
            joined = self._join_otherwise(text, item, link, scope)
            if joined:
                return joined, ""
        if common and not reaches and not scope.merged and rng.random() < 0.25:
            return self._join_by_name(text, item, common, scope), ""
        if reaches:
            join = rng.choice((", ", " CROSS JOIN ", " LEFT JOIN ", " JOIN "))
        else:
            join = f" {rng.choice(self._dialect.joins)} "
            if rng.random() < 0.2:
                join = ", "
        if join == ", ":
            return f"{text}, {item}", link
        if join == " CROSS JOIN ":
            return f"{text} CROSS JOIN {item}", link
        condition = link or "true"
        if rng.random() < 0.2:
            condition += f" AND {self._expressions.write('bool', scope.open(), 1)}"
        return f"{text}{join}{item} ON {condition}", ""

    def _join_otherwise(self, text: str, item: str, link: str, scope: Scope) -> str:
        """Joins of DuckDB's own; empty where none of them can be written."""
        rng = self._rng
        *before, source = scope.sources
        form = rng.choice(("SEMI", "ANTI", "ASOF", "ASOF LEFT", "POSITIONAL"))
        if form == "POSITIONAL":
            # What is joined by position must have one: tables do, most other sources do not.
            is_plain = all("(" not in side and " JOIN " not in side for side in (text, item))
            return f"{text} POSITIONAL JOIN {item}" if is_plain else ""
        if not link:
            return ""
        if form in ("SEMI", "ANTI"):
            scope.sources.remove(source)
            return f"{text} {form} JOIN {item} ON {link}"
        orders = [
            text for other in before for text in _compare(other, ">=", source, ("date", "int"))
        ]
        return f"{text} {form} JOIN {item} ON {link} AND {rng.choice(orders)}" if orders else ""

    def _join_by_name(
        self, text: str, item: str, common: Sequence[tuple[str, str]], scope: Scope
    ) -> str:
        join = self._rng.choice(self._dialect.joins)
        if self._dialect.has("natural") and self._rng.random() < 0.3:
            scope.merged += common
            return f"{text} NATURAL {join} {item}"
        name, family = self._rng.choice(common)
        scope.merged.append((name, family))
        joined = f"{text} {join} {item} USING ({name})"
        if self._dialect.has("using_alias") and self._rng.random() < 0.3:
            alias = self._names.draw(scope.names)
            scope.sources.append(Source(alias, ((name, family),)))
            return f"{joined} AS {alias}"
        return joined

    def _link(self, before: Sequence[Source], source: Source) -> str:
        """An equation between a column of each side, over a key where there is one."""
        for other in before:
            for child, parent in ((source, other), (other, source)):
                for own, table, target in child.keys:
                    if table == parent.table and child.name and parent.name:
                        return f"{child.name}.{own} = {parent.name}.{target}"
        for other in before:
            if pairs := _compare(other, "=", source, ("int", "text", "date")):
                return self._rng.choice(pairs)
        return ""


def _compare(left: Source, operator: str, right: Source, families: Sequence[str]) -> list[str]:
    """The comparisons of a column of each side, both of the same one of the families."""
    return [
        f"{left.name}.{one} {operator} {right.name}.{other}"
        for one, family in left.columns
        for other, kind in right.columns
        if family == kind and family in families and one and other and left.name and right.name
    ]


def _find_common(before: Sequence[Source], source: Source) -> list[tuple[str, str]]:
    """Columns that ``source`` and exactly one of the others have, with the same family."""
    found = []
    for name, family in source.columns:
        having = [column for other in before for column in other.columns if column[0] == name]
        if name and having == [(name, family)]:
            found.append((name, family))
    return found
