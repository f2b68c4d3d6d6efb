"""What stands in FROM: tables, CTEs, queries, functions and VALUES, joined and renamed.

Joined by keys, by names, by commas, by nothing. Recursive CTEs end: a count up to a bound, and a
walk along a key of a table to itself.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from nl2sql.catalog import Catalog
from nl2sql.sql.names import quote_name
from tests.oracle.grammar.dialect import Dialect, FunctionSource, Names
from tests.oracle.grammar.expressions import Expressions
from tests.oracle.grammar.scope import Columns, Scope, Source


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


_ITEMS = {
    "table": 14,
    "cte": 7,
    "derived": 5,
    "lateral": 3,
    "function": 4,
    "values": 2,
    "joined": 2,
}


class Queries(Protocol):
    """Writes a derived table's query."""

    def write_query(self, parent: Scope | None, depth: int) -> tuple[str, Columns]:
        """SQL and the columns that it has."""
        ...


@dataclass(frozen=True, slots=True)
class TableShape:
    """A table as a source, and the ways to write its name."""

    source: Source
    spellings: tuple[str, ...]


def list_tables(catalog: Catalog, dialect: Dialect) -> list[TableShape]:
    """The tables of a catalog that have columns the grammar reads."""
    shapes = []
    for table in catalog.tables:
        columns = tuple(
            (quote_name(column.name, catalog.dialect), family)
            for column in table.columns
            if (family := dialect.find_family(column.type))
        )
        if not columns:
            continue
        keys = [
            (key.columns[0], key.target, key.target_columns[0])
            for key in catalog.foreign_keys
            if key.table == table.qualified and len(key.columns) == 1 == len(key.target_columns)
        ]
        name = quote_name(table.name, catalog.dialect)
        qualified = f"{quote_name(table.schema, catalog.dialect)}.{name}"
        short = [name, name] if catalog.resolve(table.name) is table else []
        spellings = (qualified, *short)
        source = Source(name, columns, keys=tuple(keys), table=table.qualified)
        shapes.append(TableShape(source, spellings))
    return shapes


class Sources:
    """Writes FROM and adds its sources to the scope."""

    def __init__(
        self,
        dialect: Dialect,
        rng: random.Random,
        tables: Sequence[TableShape],
        names: Names,
        queries: Queries,
        expressions: Expressions,
    ) -> None:
        self._dialect = dialect
        self._functions = {function.template: function for function in dialect.functions}
        self._rng = rng
        self._tables = tables
        self._names = names
        self._queries = queries
        self._expressions = expressions
        self._joins = Joins(dialect, rng, names, expressions)
        self.ctes: list[Source] = []

    def write(self, scope: Scope, depth: int) -> tuple[str, list[str]]:
        """The text after FROM, and the conditions that link sources separated by commas."""
        text, first = self._write_item(scope, depth, first=True)
        scope.sources.append(first)
        links: list[str] = []
        for _ in range(self._rng.choice((0, 0, 0, 1, 1, 2) if depth > 0 else (0, 0, 0, 1))):
            item, source = self._write_item(scope, depth, first=False)
            text, link = self._joins.join(text, item, source, scope)
            if link:
                links.append(link)
        return text, links

    def write_table(self, scope: Scope) -> tuple[str, Source]:
        """A table under its own name or another, its columns perhaps renamed."""
        shape = self._rng.choice(self._pick_near(scope) or self._tables)
        spelled = self._rng.choice(shape.spellings)
        if self._dialect.has("only") and self._rng.random() < 0.03:
            spelled = f"ONLY {spelled}"
        if self._dialect.has("sample") and self._rng.random() < 0.01:
            alias = self._names.draw(scope.names)
            return f"{spelled} AS {alias} TABLESAMPLE BERNOULLI (100)", shape.source.rename(
                alias, []
            )
        if shape.source.name not in scope.names and self._rng.random() < 0.3:
            return spelled, shape.source
        return self._alias(spelled, shape.source, scope)

    # -- items ---------------------------------------------------------------------------------

    def _write_item(self, scope: Scope, depth: int, *, first: bool) -> tuple[str, Source]:
        weights = dict(_ITEMS)
        if not self.ctes:
            del weights["cte"]
        if depth <= 0:
            for kind in ("derived", "lateral", "joined"):
                del weights[kind]
        if first or not self._dialect.has("lateral"):
            weights.pop("lateral", None)
        if not self._dialect.functions:
            del weights["function"]
        if not self._dialect.has("values"):
            del weights["values"]
        kind = self._rng.choices(list(weights), list(weights.values()))[0]
        if kind == "table":
            return self.write_table(scope)
        if kind == "cte":
            source = self._rng.choice(self.ctes)
            if source.name not in scope.names and self._rng.random() < 0.5:
                return source.name, source
            return self._alias(source.name, source, scope)
        if kind == "values":
            return self._write_values(scope)
        if kind == "function":
            return self._write_function(scope)
        if kind == "joined":
            return self._write_joined(scope, depth)
        # Only a lateral query sees its neighbours.
        is_lateral = kind == "lateral"
        parent = scope if is_lateral else scope.parent
        text, columns = self._queries.write_query(parent, depth - 1)
        source = Source("", _forget_doubles(columns))
        return self._alias(f"{'LATERAL ' * is_lateral}({text})", source, scope)

    def _write_values(self, scope: Scope) -> tuple[str, Source]:
        families = [self._expressions.draw_plain() for _ in range(self._rng.randint(1, 3))]
        rows = ", ".join(
            f"({', '.join(self._expressions.write_leaf(family, Scope()) for family in families)})"
            for _ in range(self._rng.randint(1, 3))
        )
        start = 0 if self._dialect.name == "duckdb" else 1
        prefix = "col" if self._dialect.name == "duckdb" else "column"
        columns = tuple((f"{prefix}{at + start}", family) for at, family in enumerate(families))
        return self._alias(f"(VALUES {rows})", Source("", columns), scope)

    def _write_function(self, scope: Scope) -> tuple[str, Source]:
        function = self._draw_function()
        text = self._expressions.expand(function.template, scope.open(), 1)
        called = function.template.split("(")[0].split(".")[-1]
        if function.columns:
            name = self._names.draw(scope.names, plain=0.4)
            columns = tuple(zip(function.columns, function.families, strict=True))
            return f"{text} AS {name}", Source(name, columns, (called, name))
        families = function.families
        if self._dialect.has("rows_from") and self._rng.random() < 0.15:
            other = self._draw_function()
            text = f"ROWS FROM ({text}, {self._expressions.expand(other.template, Scope(), 1)})"
            families = (*families, *other.families)
        if self._dialect.has("ordinality") and self._rng.random() < 0.25:
            text += " WITH ORDINALITY"
            families = (*families, "int")
        if self._dialect.has("lateral") and self._rng.random() < 0.15:
            text = f"LATERAL {text}"
        roll = self._rng.random()
        if roll < 0.1 and called not in scope.names and len(families) == 1:
            return text, Source(called, ((called, families[0]),))
        name = self._names.draw(scope.names, plain=0.4)
        own = name if len(families) == 1 else called
        columns = ((own, families[0]), *(("", family) for family in families[1:]))
        lost = (called, name, "ordinality", "value")
        if roll < 0.3:
            return f"{text} AS {name}", Source(name, columns, lost)
        names = self._names.draw_list([own], self._rng.randint(1, len(families)))
        source = Source(name, columns).rename(name, names)
        return f"{text} AS {name}({', '.join(names)})", Source(
            name, source.columns, tuple(old for old in lost if old not in names)
        )

    def _draw_function(self) -> FunctionSource:
        return self._functions[self._expressions.choose(list(self._functions))]

    def _write_joined(self, scope: Scope, depth: int) -> tuple[str, Source]:
        """A join in parentheses under a name of its own, which hides those within."""
        inner = Scope(scope.parent)
        text, links = self.write(inner, 0)
        columns = tuple(column for source in inner.sources for column in source.columns)
        is_joined = len(inner.sources) > 1 and " JOIN " in text and not links
        if not is_joined or inner.merged or not self._dialect.has("join_alias"):
            return self.write_table(scope)
        within = tuple(source.name for source in inner.sources if source.name)
        return self._alias(f"({text})", Source("", _forget_doubles(columns), within), scope)

    def _alias(self, text: str, source: Source, scope: Scope) -> tuple[str, Source]:
        taken = scope.names
        name = self._names.draw(taken)
        names: list[str] = []
        if self._dialect.has("rename") and source.columns and self._rng.random() < 0.4:
            count = self._rng.randint(1, len(source.columns))
            if len(source.columns) > 6 and self._rng.random() < 0.7:
                count = self._rng.randint(1, 3)
            extra = self._rng.random() < 0.02
            names = self._names.draw_list([old for old, _ in source.columns], count)
            if extra:
                names += [f"extra{at}" for at in range(len(source.columns))]
        listed = f"({', '.join(names)})" if names else ""
        return f"{text} AS {name}{listed}", source.rename(name, names)

    def _pick_near(self, scope: Scope) -> list[TableShape]:
        """Tables that a key links to those in the scope."""
        here = {source.table for source in scope.sources if source.table}
        named = {target for source in scope.sources for _, target, _ in source.keys}
        return [
            shape
            for shape in self._tables
            if shape.source.table in named or here & {target for _, target, _ in shape.source.keys}
        ]


def _forget_doubles(columns: Columns) -> Columns:
    """The columns; a name that several of them have is removed, since it is ambiguous."""
    names = [name for name, _ in columns]
    return tuple((name if names.count(name) == 1 else "", family) for name, family in columns)


def write_recursion(
    rng: random.Random, name: str, tables: Sequence[TableShape], names: Names
) -> tuple[str, Source]:
    """The CTE called ``name``, and the source that it is for the rest of the query."""
    trees = [
        (shape, key)
        for shape in tables
        for key in shape.source.keys
        if key[1] == shape.source.table
    ]
    union = rng.choice(("UNION ALL", "UNION"))
    if trees and rng.random() < 0.5:
        shape, (parent, _, key) = rng.choice(trees)
        table = rng.choice(shape.spellings)
        listed = names.draw_list([key, parent, "depth"], 3) if rng.random() < 0.6 else []
        first, second, third = listed or [key, parent, "depth"]
        head = f"{name}({', '.join(listed)})" if listed else name
        alias = names.draw({name, "c"})
        text = (
            f"{head} AS (SELECT {key}, {parent}, 1 AS depth FROM {table} WHERE {parent} IS NULL"
            f" {union} SELECT c.{key}, c.{parent}, {alias}.{third} + 1"
            f" FROM {table} AS c JOIN {name} AS {alias} ON c.{parent} = {alias}.{first})"
        )
        columns = ((first, "int"), (second, "int"), (third, "int"))
        return text, Source(name, columns, (key, parent, "depth") if listed else ())
    if rng.random() < 0.7:
        column, other = names.draw_list(["", ""], 2)
        text = (
            f"{name}({column}, {other}) AS (SELECT 1, 'a' {union}"
            f" SELECT {column} + 1, {other} FROM {name} WHERE {column} < {rng.randint(2, 9)})"
        )
        return text, Source(name, ((column, "int"), (other, "text")))
    text = (
        f"{name} AS (SELECT 1 AS i, 2 AS k {union}"
        f" SELECT {name}.i + 1, {name}.k FROM {name} WHERE i < {rng.randint(2, 9)})"
    )
    return text, Source(name, (("i", "int"), ("k", "int")))
