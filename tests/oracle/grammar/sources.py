"""What stands in FROM: tables, CTEs, queries, functions and VALUES, joined and renamed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from nl2sql.catalog import Catalog
from nl2sql.sql.names import quote_name
from tests.oracle.grammar.dialect import Dialect, FunctionSource
from tests.oracle.grammar.expressions import Expressions
from tests.oracle.grammar.joins import Joins
from tests.oracle.grammar.names import Names
from tests.oracle.grammar.scope import Columns, Scope, Source

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
