"""Queries that hypothesis makes up: joins over foreign keys, filters with values from the data,
subqueries, set operations, aggregates and windows, nested into one another.

Every result is named ``c0``, ``c1`` …; LIMIT stands only behind an ORDER BY of all of them. Only
types of ``_FAMILIES`` are read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from nl2sql.catalog import Catalog, Table
from nl2sql.sql.names import quote_name

_FAMILIES = {
    "integer": "number",
    "bigint": "number",
    "smallint": "number",
    "numeric": "number",
    "double": "number",
    "text": "text",
    "character": "text",
    "date": "date",
    "timestamp": "timestamp",
    "boolean": "boolean",
}
_COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")
_JOINS = ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")
_MOST_JOINS = 3
_MOST_DEPTH = 2

Values = Mapping[tuple[str, str], Sequence[str]]
"""(qualified table, column) → some of its values as SQL literals."""

Draw = Callable[[st.SearchStrategy[Any]], Any]


@dataclass(frozen=True, slots=True)
class _Read:
    """A column in reach: its SQL, its family, and literals that it holds."""

    sql: str
    family: str
    literals: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Hop:
    """A key that leads from the table called ``alias`` to another one."""

    alias: str
    ours: tuple[str, ...]
    other: Table
    theirs: tuple[str, ...]

    def render(self, inner: str) -> str:
        """The condition that links it to the other table under the name ``inner``."""
        return " AND ".join(
            f"{self.alias}.{quote_name(mine)} = {inner}.{quote_name(its)}"
            for mine, its in zip(self.ours, self.theirs, strict=True)
        )


def read_values(
    fetch: Callable[[str], list[tuple[Any, ...]]], catalog: Catalog, *, most: int = 12
) -> Values:
    """Up to ``most`` values of every column that is read, spread over the table."""
    values: dict[tuple[str, str], list[str]] = {}
    for table in catalog.tables:
        columns = [column for column in table.columns if _family(column.type)]
        if table.kind != "table" or not columns:
            continue
        quoted = ", ".join(f"quote_nullable({quote_name(column.name)})" for column in columns)
        rows = fetch(
            f"SELECT {quoted} FROM {quote_name(table.schema)}.{quote_name(table.name)}"
            f" ORDER BY md5(ctid::text) LIMIT {most}"
        )
        for at, column in enumerate(columns):
            literals = dict.fromkeys(row[at] for row in rows if row[at] != "NULL")
            values[table.qualified, column.name] = list(literals)
    return values


def build_queries(catalog: Catalog, values: Values) -> st.SearchStrategy[str]:
    """Whole queries over the catalog's tables."""
    builder = _Builder(catalog, values)

    @st.composite
    def build(draw: Draw) -> str:
        return builder.query(draw, _MOST_DEPTH)

    return build()


def _family(type_name: str) -> str:
    return "" if "[]" in type_name else _FAMILIES.get(type_name.split("(")[0].split(" ")[0], "")


class _Builder:
    def __init__(self, catalog: Catalog, values: Values) -> None:
        self._catalog = catalog
        self._values = values
        self._tables = [
            table
            for table in catalog.tables
            if any((table.qualified, column.name) in values for column in table.columns)
        ]
        self._keys = [key for key in catalog.foreign_keys if catalog.table(key.target)]
        self._alias = 0

    def query(self, draw: Draw, depth: int) -> str:
        """A query of any form, columns ``c0`` …"""
        self._alias = 0
        form = draw(st.sampled_from(["select", "select", "select", "set", "cte", "derived"]))
        if depth == 0 or form == "select":
            return self._select(draw, depth)[0]
        if form == "set":
            left, families = self._select(draw, depth - 1)
            right, _ = self._select(draw, depth - 1, families=families)
            operator = draw(st.sampled_from(["UNION", "UNION ALL", "INTERSECT", "EXCEPT"]))
            return f"({left}) {operator} ({right})"
        inner, families = self._select(draw, depth - 1)
        reads = [_Read(f"d.c{at}", family, ()) for at, family in enumerate(families)]
        outer, _ = self._outputs(draw, reads, "d")
        if form == "cte":
            # Half of the time under the name of a table, which it then hides.
            table = draw(st.sampled_from(self._tables))
            name = draw(st.sampled_from(["w", quote_name(table.name)]))
            return f"WITH {name} AS ({inner}) SELECT {outer.replace('FROM d', f'FROM {name} AS d')}"
        return f"SELECT {outer.replace('FROM d', f'FROM ({inner}) AS d')}"

    def _select(
        self, draw: Draw, depth: int, families: Sequence[str] | None = None
    ) -> tuple[str, list[str]]:
        """A SELECT over joined tables, and the families of its columns."""
        source, reads, hops = self._source(draw)
        conditions = [
            self._condition(draw, reads, depth, hops)
            for _ in range(draw(st.integers(min_value=0, max_value=2)))
        ]
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        if families is not None:
            matching = [self._match(draw, reads, family) for family in families]
            columns = ", ".join(f"{text} AS c{at}" for at, text in enumerate(matching))
            return f"SELECT {columns} FROM {source}{where}", list(families)
        outputs, found = self._outputs(draw, reads, f"{source}{where}")
        return f"SELECT {outputs}", found

    def _outputs(self, draw: Draw, reads: Sequence[_Read], source: str) -> tuple[str, list[str]]:
        """The text of a query after SELECT; ``source`` is the text after FROM."""
        chosen = draw(st.lists(st.sampled_from(list(reads)), min_size=1, max_size=3))
        form = draw(st.sampled_from(["plain", "distinct", "group", "aggregate", "window", "top"]))
        columns = [f"{read.sql} AS c{at}" for at, read in enumerate(chosen)]
        families = [read.family for read in chosen]
        added = f"c{len(chosen)}"
        tail = ""
        match form:
            case "group":
                columns.append(f"{self._aggregate(draw, reads)} AS {added}")
                families.append("number")
                tail = f" GROUP BY {', '.join(str(at + 1) for at in range(len(chosen)))}"
                if draw(st.booleans()):
                    tail += f" HAVING count(*) >= {draw(st.integers(0, 4))}"
            case "aggregate":
                columns = [f"{self._aggregate(draw, reads)} AS c0"]
                families = ["number"]
            case "window":
                partition = draw(st.sampled_from(list(reads))).sql
                columns.append(f"count(*) OVER (PARTITION BY {partition}) AS {added}")
                families.append("number")
            case "top":
                tail = f" ORDER BY {', '.join(str(at + 1) for at in range(len(chosen)))}"
                tail += f" LIMIT {draw(st.integers(0, 5))}"
            case _:
                pass
        distinct = "DISTINCT " if form == "distinct" else ""
        return f"{distinct}{', '.join(columns)} FROM {source}{tail}", families

    def _aggregate(self, draw: Draw, reads: Sequence[_Read]) -> str:
        numbers = [read.sql for read in reads if read.family == "number"]
        name = draw(st.sampled_from(["count", "count_distinct", "sum", "max", "filter"]))
        if name in ("sum", "max") and numbers:
            return f"{name}({draw(st.sampled_from(numbers))})"
        read = draw(st.sampled_from(list(reads))).sql
        if name == "count_distinct":
            return f"count(DISTINCT {read})"
        if name == "filter":
            return f"count(*) FILTER (WHERE {read} IS NOT NULL)"
        return "count(*)"

    # -- FROM ----------------------------------------------------------------------------------

    def _source(self, draw: Draw) -> tuple[str, list[_Read], list[_Hop]]:
        """Tables joined over foreign keys in either direction, their columns and their keys."""
        table = draw(st.sampled_from(self._tables))
        alias = self._next_alias()
        text = f"{self._name(draw, table)} AS {alias}"
        reads, hops = self._reads(alias, table), self._hops(alias, table)
        for _ in range(draw(st.integers(min_value=0, max_value=_MOST_JOINS))):
            if not hops:
                break
            hop = draw(st.sampled_from(hops))
            alias = self._next_alias()
            join, name = draw(st.sampled_from(_JOINS)), self._name(draw, hop.other)
            text += f" {join} {name} AS {alias} ON {hop.render(alias)}"
            reads += self._reads(alias, hop.other)
            hops += self._hops(alias, hop.other)
        return text, reads, hops

    def _hops(self, alias: str, table: Table) -> list[_Hop]:
        hops = []
        for key in self._keys:
            child, parent = self._catalog.table(key.table), self._catalog.table(key.target)
            if child is table and parent is not None:
                hops.append(_Hop(alias, key.columns, parent, key.target_columns))
            if parent is table and child is not None:
                hops.append(_Hop(alias, key.target_columns, child, key.columns))
        return hops

    def _name(self, draw: Draw, table: Table) -> str:
        qualified = f"{quote_name(table.schema)}.{quote_name(table.name)}"
        short = self._catalog.short_names[table.qualified]
        return str(draw(st.sampled_from([short, qualified, f"{short.upper()}"])))

    def _reads(self, alias: str, table: Table) -> list[_Read]:
        return [
            _Read(f"{alias}.{quote_name(column.name)}", _family(column.type), literals)
            for column in table.columns
            if (literals := self._values.get((table.qualified, column.name))) is not None
        ]

    def _next_alias(self) -> str:
        self._alias += 1
        return f"t{self._alias}"

    # -- WHERE ---------------------------------------------------------------------------------

    def _condition(
        self, draw: Draw, reads: Sequence[_Read], depth: int, hops: Sequence[_Hop]
    ) -> str:
        forms = ["compare", "compare", "null", "list", "between", "like", "or", "not"]
        forms += ["in", "exists", "scalar"] if depth > 0 and hops else []
        form = draw(st.sampled_from(forms))
        read = draw(st.sampled_from(list(reads)))
        literal = self._literal(draw, read)
        match form:
            case "null":
                return f"{read.sql} IS {draw(st.sampled_from(['NULL', 'NOT NULL']))}"
            case "list":
                return f"{read.sql} IN ({literal}, {self._literal(draw, read)})"
            case "between":
                return f"{read.sql} BETWEEN {literal} AND {self._literal(draw, read)}"
            case "like" if read.family == "text":
                return f"{read.sql} LIKE '%{draw(st.sampled_from('aeinrst'))}%'"
            case "or":
                sides = [self._condition(draw, reads, depth - 1, hops) for _ in range(2)]
                return f"({' OR '.join(sides)})"
            case "not":
                return f"NOT ({self._condition(draw, reads, depth - 1, hops)})"
            case "in" | "exists" | "scalar":
                return self._subquery(draw, form, draw(st.sampled_from(list(hops))))
            case _:
                return f"{read.sql} {draw(st.sampled_from(_COMPARISONS))} {literal}"

    def _subquery(self, draw: Draw, form: str, hop: _Hop) -> str:
        """A condition over a subquery that follows a key of a table outside."""
        inner = self._next_alias()
        reads = self._reads(inner, hop.other)
        where = self._condition(draw, reads, 0, ()) if reads else "true"
        source = f"{self._name(draw, hop.other)} AS {inner}"
        negated = draw(st.sampled_from(["", "NOT "]))
        if form == "in":
            member = f"{hop.alias}.{quote_name(hop.ours[0])}"
            column = f"{inner}.{quote_name(hop.theirs[0])}"
            return f"{member} {negated}IN (SELECT {column} FROM {source} WHERE {where})"
        linked = f"FROM {source} WHERE {hop.render(inner)} AND {where}"
        if form == "exists":
            return f"{negated}EXISTS (SELECT 1 {linked})"
        return f"(SELECT count(*) {linked}) > {draw(st.integers(0, 3))}"

    def _literal(self, draw: Draw, read: _Read) -> str:
        if read.literals:
            return str(draw(st.sampled_from(list(read.literals))))
        return "NULL"

    def _match(self, draw: Draw, reads: Sequence[_Read], family: str) -> str:
        """A column of that family, or a NULL of its type where there is none."""
        names = {"number": "numeric"}
        matching = [read.sql for read in reads if read.family == family]
        if matching:
            return str(draw(st.sampled_from(matching)))
        return f"CAST(NULL AS {names.get(family, family)})"
