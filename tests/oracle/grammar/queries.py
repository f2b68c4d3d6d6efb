"""Whole queries: SELECT with all its clauses, set operations, VALUES and WITH."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence

from nl2sql.catalog import Catalog
from nl2sql.sql.names import quote_name
from tests.oracle.grammar.dialect import Dialect, Names
from tests.oracle.grammar.expressions import Expressions
from tests.oracle.grammar.scope import Columns, Scope, Source
from tests.oracle.grammar.sources import Sources, list_tables, write_recursion

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


_SETS = ("UNION", "UNION ALL", "INTERSECT", "EXCEPT")
_MOST_DEPTH = 3
# How often a template is tried.
_TRIES = 6
_COLUMN = re.compile(r"[a-z_]\w*(\.\w+)?")


class QueryGrammar:
    """Writes queries over ``visible`` tables, all where it is None; in half of them are slips."""

    def __init__(
        self,
        dialect: Dialect,
        catalog: Catalog,
        rng: random.Random,
        visible: set[str] | None = None,
    ) -> None:
        tables = list_tables(catalog, dialect)
        seen = [
            shape for shape in tables if visible is None or shape.source.table in visible
        ] or tables
        stored = [name for shape in tables for name, _ in shape.source.columns]
        stored += [quote_name(table.name, catalog.dialect) for table in catalog.tables]
        self._dialect = dialect
        self._rng = rng
        self._names = Names(dialect, rng, stored)
        self._expressions = Expressions(dialect, rng, self)
        self._expressions.hidden = stored
        self._sources = Sources(dialect, rng, seen, self._names, self, self._expressions)
        self._clauses = Clauses(dialect, rng, self._expressions)
        self._tables = seen

    def iterate(self) -> Iterator[tuple[str, str]]:
        """(kind, statement) without end."""
        while True:
            slips = self._rng.choice((0, 0, 1, 1, 2))
            kind = "grammar with slips" if slips else "grammar"
            yield kind, self.write_statement(slips)

    def write_statement(self, slips: int = 0) -> str:
        """One query."""
        self._names.restart()
        self._expressions.slips = slips
        self._sources.ctes = []
        return self.write_query(None, self._rng.randint(0, _MOST_DEPTH))[0]

    def find_rare(self, accepts: Callable[[str], bool]) -> frozenset[str]:
        """The templates and literals of which the guard accepts no query.

        A query of twenty expressions would nearly always hold one, and show nothing but that.
        """
        return frozenset(
            template
            for template in dict.fromkeys(self._expressions.list_templates())
            if not any(accepts(self._write_example(template)) for _ in range(_TRIES))
        )

    def set_rare(self, templates: frozenset[str]) -> None:
        """Lets few queries hold these templates from now on.

        Should the guard let one through by mistake, it is seen.
        """
        self._expressions.rare = templates

    def write_query(self, parent: Scope | None, depth: int) -> tuple[str, Columns]:
        """SQL and its columns."""
        form = self._rng.choices(
            ("select", "set", "with", "values", "table"), (12, 2, 3, 0.2, 0.05)
        )[0]
        if form == "set" and depth > 0:
            return self._write_set(parent, depth)
        if form == "with" and depth > 0:
            return self._write_with(parent, depth)
        if form == "values" and self._dialect.has("values"):
            return self._write_values(parent)
        if form == "table" and self._dialect.has("table_statement"):
            shape = self._rng.choice(self._tables)
            return f"TABLE {self._rng.choice(shape.spellings)}", shape.source.columns
        return self._write_select(parent, depth, None, "")

    def write_column(self, families: Sequence[str], scope: Scope, depth: int, most: str) -> str:
        """A query with columns of these families, for an expression."""
        return self._write_select(scope, depth - 1, families, most)[0]

    def write_any(self, scope: Scope, depth: int) -> str:
        """Any query, for EXISTS."""
        return self.write_query(scope, min(depth, 1))[0]

    # -- SELECT --------------------------------------------------------------------------------

    def _write_example(self, template: str) -> str:
        """A short query that holds the template."""
        self._names.restart()
        self._expressions.slips = 0
        scope = Scope()
        text, source = self._sources.write_table(scope)
        scope.sources.append(source)
        return f"SELECT {self._expressions.expand(template, scope, 1)} AS x FROM {text}"

    def _write_select(
        self, parent: Scope | None, depth: int, families: Sequence[str] | None, most: str
    ) -> tuple[str, Columns]:
        rng = self._rng
        scope = Scope(parent)
        source, links = "", list[str]()
        if rng.random() < 0.97:
            source, links = self._sources.write(scope, depth)
        conditions = [*links, *self._write_conditions(scope, depth)]
        text = f" FROM {source}" if source else ""
        text += f" WHERE {' AND '.join(conditions)}" if conditions else ""
        form = rng.choices(("plain", "group", "aggregate"), (6, 2.5, 1))[0]
        if most == "one" and rng.random() < 0.7:
            form = "aggregate"
        keys: list[tuple[str, str]] = []
        if form == "group":
            grouping, keys = self._clauses.write_group(scope, depth)
            text += grouping
        elif form == "aggregate":
            scope.grouped = {}
        scope.windows = families is None
        window = ""
        if form == "plain" and families is None:
            window = self._clauses.write_window(scope, self._names)
        outputs, columns = self._write_outputs(scope, depth, families, keys)
        if form != "plain" and rng.random() < 0.25:
            text += f" HAVING {self._expressions.write('bool', scope, 1)}"
        text += window
        distinct, order = self._clauses.write_order(scope, columns, form)
        limit = self._clauses.write_limit(most) if order and columns else ""
        if most == "one" and form != "aggregate" and not limit:
            limit = " LIMIT 1"
        return f"SELECT {distinct}{outputs}{text}{order}{limit}", columns

    def _write_conditions(self, scope: Scope, depth: int) -> list[str]:
        count = self._rng.choice((0, 0, 1, 1, 2))
        inner = Scope(scope.parent, scope.sources, None, scope.merged)
        return [
            f"({self._expressions.write('bool', inner, min(depth, 2) + 1)})" for _ in range(count)
        ]

    def _write_outputs(
        self,
        scope: Scope,
        depth: int,
        families: Sequence[str] | None,
        keys: Sequence[tuple[str, str]],
    ) -> tuple[str, Columns]:
        rng = self._rng
        texts: list[str] = []
        columns: list[tuple[str, str]] = []
        if families is None:
            families = [self._expressions.draw_family(scope) for _ in range(rng.randint(1, 4))]
            if not keys and scope.grouped is None and rng.random() < 0.12 and scope.names:
                named = [source for source in scope.sources if source.name]
                source = rng.choice(named)
                text, starred = self._write_star(source)
                texts.append(text)
                columns += starred
            for key, family in keys:
                name = key.rpartition(".")[2] if _COLUMN.fullmatch(key) else ""
                texts.append(key if name else f"{key} AS k{len(texts)}")
                columns.append((name or f"k{len(texts) - 1}", family))
        taken = {name for name, _ in columns}
        for family in families:
            text = self._expressions.write(family, scope, depth + 1)
            name = ""
            # Only a column keeps its name: what others are called is the database's affair.
            if rng.random() < 0.8 or not _COLUMN.fullmatch(text):
                name = self._names.draw(taken, plain=0.6)
                text = f"{text} AS {name}"
            else:
                name = text.rpartition(".")[2]
            taken.add(name)
            texts.append(text)
            columns.append((name, family))
        if scope.named:
            inner = self._expressions.write_total(scope)
            over = rng.choice((scope.named, f"({scope.named} ORDER BY {inner})"))
            texts.append(f"count(*) OVER {over} AS w")
            columns.append(("w", "int"))
        return ", ".join(texts), tuple(columns)

    def _write_star(self, source: Source) -> tuple[str, Columns]:
        """All columns of a source; on DuckDB sometimes with one left out or replaced."""
        text, columns = f"{source.name}.*", source.columns
        texts = [name for name, family in columns if name and family == "text"]
        if not self._dialect.has("star_exceptions") or not texts or self._rng.random() < 0.5:
            return text, columns
        name = self._rng.choice(texts)
        if self._rng.random() < 0.5:
            return f"{text} REPLACE (upper({name}) AS {name})", columns
        return f"{text} EXCLUDE ({name})", tuple(column for column in columns if column[0] != name)

    # -- others --------------------------------------------------------------------------------

    def _write_set(self, parent: Scope | None, depth: int) -> tuple[str, Columns]:
        families = [self._expressions.draw_plain() for _ in range(self._rng.randint(1, 3))]
        left, columns = self._write_select(parent, depth - 1, families, "set")
        text = f"({left})" if self._dialect.has("set_limit") else f"SELECT * FROM ({left})"
        operators = (*_SETS, "INTERSECT ALL", "EXCEPT ALL", "UNION DISTINCT")
        for _ in range(self._rng.choice((1, 1, 2))):
            right, _ = self._write_select(parent, depth - 1, families, "set")
            operator = self._rng.choice(operators if self._dialect.has("intersect_all") else _SETS)
            other = f"({right})" if self._dialect.has("set_limit") else f"SELECT * FROM ({right})"
            text = f"{text} {operator} {other}"
            if self._dialect.has("set_limit") and self._rng.random() < 0.2:
                text = f"({text})"
        if self._rng.random() < 0.4:
            order = ", ".join(str(at + 1) for at in range(len(families)))
            text += f" ORDER BY {order}{self._clauses.write_limit('')}"
        return text, columns

    def _write_values(self, parent: Scope | None) -> tuple[str, Columns]:
        families = [self._expressions.draw_plain() for _ in range(self._rng.randint(1, 3))]
        scope = Scope(parent)
        rows = ", ".join(
            f"({', '.join(self._expressions.write(family, scope, 0) for family in families)})"
            for _ in range(self._rng.randint(1, 3))
        )
        duckdb = self._dialect.name == "duckdb"
        prefix, start = ("col", 0) if duckdb else ("column", 1)
        columns = tuple((f"{prefix}{at + start}", family) for at, family in enumerate(families))
        return f"VALUES {rows}", columns

    def _write_with(self, parent: Scope | None, depth: int) -> tuple[str, Columns]:
        rng = self._rng
        kept = list(self._sources.ctes)
        parts, taken = list[str](), set[str]()
        recursive = rng.random() < 0.3
        for _ in range(rng.choice((1, 1, 2, 3))):
            name = self._names.draw(taken, plain=0.4)
            taken.add(name)
            if recursive and rng.random() < 0.7:
                text, source = write_recursion(rng, name, self._tables, self._names)
            else:
                query, columns = self.write_query(parent, depth - 1)
                names: list[str] = []
                if rng.random() < 0.4:
                    count = rng.randint(1, len(columns)) if columns else 0
                    names = self._names.draw_list([old for old, _ in columns], count)
                source = Source("", columns).rename(name, names)
                listed = f"({', '.join(names)})" if names else ""
                hint = ""
                if self._dialect.has("materialized") and rng.random() < 0.3:
                    hint = rng.choice(("MATERIALIZED ", "NOT MATERIALIZED "))
                text = f"{name}{listed} AS {hint}({query})"
            parts.append(text)
            hidden = [cte for cte in self._sources.ctes if cte.name != name]
            self._sources.ctes = [*hidden, source]
        body, columns = self.write_query(parent, depth - 1)
        self._sources.ctes = kept
        word = "WITH RECURSIVE" if recursive else "WITH"
        if body.startswith("WITH"):
            body = f"SELECT * FROM ({body}) AS w"
        return f"{word} {', '.join(parts)} {body}", columns
