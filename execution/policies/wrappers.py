"""Builds wrappers: the derived table of visible columns and rows that replaces a table.

``OFFSET 0`` is a security barrier: no planner moves a condition of the outer query past it. So
``1 / (salary - 777)`` is never computed on a row that the filter removes, and neither an error nor
the time taken reveals such a row. Without a filter a view needs one if it reads what nothing else
shows: a planner moves conditions into it, to rows that it leaves out.

PostgreSQL's planner evaluates conditions while planning, on values that ANALYZE sampled from the
table, hidden ones among them: ``name ILIKE 'hida\\'`` fails if a sampled value begins so. It finds
the samples through a subquery, but not through a set operation (``examine_simple_variable`` in its
selfuncs.c). There the wrapper is therefore a UNION ALL whose second part never returns a row.

PostgreSQL and SQLite return rows in the order of the index that they read, so an index on a hidden
salary would rank the visible rows. Where a column is hidden or masked, the wrapper therefore sorts
its rows by their primary key, or by all that it shows. So it does on SQLite where a view may read
such a column, unless the view has an order of its own; on PostgreSQL, where it may have millions of
rows, the query runs without scans in an index's order. DuckDB returns rows as they are stored.

Knows nothing of principals: their values are slots, see ``parameters.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from sqlglot import exp
from sqlglot.errors import SqlglotError

from execution.guard_dialects import READERS
from execution.name_resolution.scopes import MADE_UP
from execution.policies.parameters import name_slots, render_slot
from execution.policies.rules import Rules, TableRule
from execution.sqlite.dialect import name_placeholders
from nl2sql.catalog import Catalog, Column, Table
from nl2sql.sql.names import enquote, fold_name
from nl2sql.sql.parsing import parse_one

_BARRIER = {"postgres": "OFFSET 0", "sqlite": "LIMIT -1 OFFSET 0", "duckdb": "OFFSET 0"}


@dataclass(frozen=True, slots=True)
class Wrapper:
    """``text`` is the SELECT, with slots; ``predicate`` its condition for people.

    ``reads`` are the physical tables in it, qualified. ``avoids_index_order`` says that an
    index on what a view does not show must not order its rows.
    """

    text: str
    predicate: str
    reads: frozenset[str]
    avoids_index_order: bool = False


# Renders the query of a view over the wrappers of its tables; returns it with these wrappers.
ViewExpander = Callable[[Table], tuple[str, Sequence[Wrapper]]]


def build_wrapper(
    qualified: str,
    roles: Sequence[Rules],
    catalog: Catalog,
    *,
    columns: frozenset[str] | None = None,
    expand: ViewExpander,
    fenced: bool,
) -> Wrapper:
    """The wrapper of a table for principals with ``roles`` (those that see it, at least one).

    ``catalog`` is the whole one, also with what no role sees. ``columns`` are those that are
    needed, as the catalog spells them; None means all. ``fenced`` demands a barrier.

    A row is visible if one of the roles sees it; a value if one of those that see the row shows it.
    """
    seeing = [rules for rules in roles if qualified in rules]
    # If one role sees a view as a table, it is one: the expanded view could show fewer rows.
    direct = [rules for rules in seeing if not rules[qualified].expands]
    seeing = direct or seeing
    chosen = [rules[qualified] for rules in seeing]
    dialect, alias = catalog.dialect, f"{MADE_UP}0"
    conditions = [render_condition(rules, qualified, 0, catalog) for rules in seeing]
    table = chosen[0].table
    visible = [column for column in table.columns if any(column in rule.columns for rule in chosen)]
    # A table without used columns, as in count(*), still has rows.
    needed = [col for col in visible if columns is None or col.name in columns] or visible[:1]
    values = {col.name: _render_value(col, alias, chosen, conditions, dialect) for col in visible}
    outputs = ", ".join(_name_value(col, alias, values[col.name]) for col in needed)
    condition = _join_or(conditions)
    shows_all = all(values.get(col.name) == _name_column(col, alias) for col in table.columns)
    if condition:
        parents = [rules[hop.target] for rules in seeing for hop in rules[qualified].path]
        shows_all = shows_all and all(rule.shows_every_column for rule in parents)
    fenced = fenced or bool(condition)
    avoids_index_order = fenced and table.kind == "view"
    if avoids_index_order and dialect == "sqlite" and not _has_order(table):
        shows_all = False
    order = "" if shows_all else _render_order(table, alias, needed, values, dialect)
    if direct:
        source, reads = name_table(table), frozenset({qualified})
        reads |= {hop.target for rules in seeing for hop in rules[qualified].path}
    else:
        query, inner = expand(table)
        source = f"({query})"
        reads = frozenset[str]().union(*(wrapper.reads for wrapper in inner))
        avoids_index_order |= any(wrapper.avoids_index_order for wrapper in inner)
    where = f" WHERE {condition}" if condition else ""
    text = f"SELECT {outputs} FROM {source} AS {alias}{where}{order}"
    if fenced and dialect == "postgres":
        # From the same table, so that every column keeps its exact type.
        first = f"({text})" if order else text
        text = f"{first} UNION ALL SELECT {outputs} FROM {source} AS {alias} WHERE FALSE"
    # Without a limit SQLite leaves out the order.
    if fenced or (order and dialect == "sqlite"):
        text += f" {_BARRIER[dialect]}"
    return Wrapper(text, name_slots(condition), reads, avoids_index_order)


def _join_or(conditions: Sequence[str]) -> str:
    """The conditions joined by OR; empty, which means every row, if one of them is empty."""
    distinct = list(dict.fromkeys(conditions))
    if "" in distinct:
        return ""
    if len(distinct) == 1:
        return distinct[0]
    return " OR ".join(f"({condition})" for condition in distinct)


def render_condition(rules: Rules, qualified: str, depth: int, catalog: Catalog) -> str:
    """The condition for the visible rows of the table, with slots; its alias ends in ``depth``."""
    rule = rules[qualified]
    if rule.filter is not None:
        return render_filter(rule.filter, f"{MADE_UP}{depth}", catalog.dialect)
    if rule.inherits is None:
        return ""
    key = rule.inherits
    parent = rules[key.target]
    inner = depth + 1
    links = [
        f"{MADE_UP}{inner}.{enquote(theirs)} = {MADE_UP}{depth}.{enquote(ours)}"
        for ours, theirs in zip(key.columns, key.target_columns, strict=True)
    ]
    condition = render_condition(rules, key.target, inner, catalog)
    if condition:
        links.append(f"({condition})")
    where = " AND ".join(links)
    return f"EXISTS (SELECT 1 FROM {name_table(parent.table)} AS {MADE_UP}{inner} WHERE {where})"


def render_filter(condition: exp.Expr, alias: str, dialect: str) -> str:
    """A rule's filter, with slots, over the table alias ``alias``; without alias if it is empty."""
    root = exp.Paren(this=condition.copy())
    for column in root.find_all(exp.Column):
        column.set("table", exp.to_identifier(alias) if alias else None)
    for placeholder in list(root.find_all(exp.Placeholder)):
        slot = exp.Var(this=render_slot(placeholder.name))
        if placeholder.arg_key == "field":
            member = placeholder.parent
            assert isinstance(member, exp.In)
            member.replace(_render_membership(member.this, slot, dialect))
        else:
            placeholder.replace(slot)
    inner = root.this
    assert isinstance(inner, exp.Expr)
    return inner.sql(READERS[dialect])


def _render_membership(value: exp.Expr, slot: exp.Var, dialect: str) -> exp.Expr:
    if dialect == "sqlite":
        return exp.In(this=value, expressions=[slot])
    if dialect == "duckdb":
        return exp.Anonymous(this="list_contains", expressions=[slot, value])
    return exp.EQ(this=value, expression=exp.Var(this=f"ANY({slot.name})"))


def _has_order(view: Table) -> bool:
    """Whether a view on SQLite orders its rows itself."""
    try:
        return bool(parse_one(view.definition, READERS["sqlite"]).args.get("order"))
    except (SqlglotError, RecursionError):
        return False


def _render_order(
    table: Table, alias: str, needed: Sequence[Column], values: Mapping[str, str], dialect: str
) -> str:
    """An order that depends on nothing but ``values``, by column; empty where none is needed."""
    if dialect == "duckdb":
        return ""
    key = [
        _name_column(column, alias) for column in table.columns if column.name in table.primary_key
    ]
    if not key or not frozenset(key) <= frozenset(values.values()):
        key = [values[column.name] for column in needed]
        if dialect == "postgres":
            # Not every type has an order.
            key = [f"CAST({value} AS text)" for value in key]
    return f" ORDER BY {', '.join(key)}"


def _name_column(column: Column, alias: str) -> str:
    return f"{alias}.{enquote(column.name)}"


def _name_value(column: Column, alias: str, value: str) -> str:
    return value if value == _name_column(column, alias) else f"{value} AS {enquote(column.name)}"


def _render_value(
    column: Column, alias: str, rules: Sequence[TableRule], conditions: Sequence[str], dialect: str
) -> str:
    shown = [
        condition
        for rule, condition in zip(rules, conditions, strict=True)
        if column in rule.columns and column.name not in rule.masks
    ]
    value = _name_column(column, alias)
    if len(shown) == len(rules) or "" in shown:
        return value
    hidden = render_null(column, dialect)
    if shown and dialect == "sqlite":
        # Unlike CASE, a subquery keeps the column's affinity, on which comparisons depend.
        return f"(SELECT {value} WHERE {_join_or(shown)})"
    if shown:
        return f"CASE WHEN {_join_or(shown)} THEN {value} ELSE {hidden} END"
    return hidden


def render_null(column: Column, dialect: str) -> str:
    """The expression for the value of a masked column."""
    # A bare NULL would be text, and `salary > 5` would fail instead of finding no rows.
    return "NULL" if dialect == "sqlite" else f"CAST(NULL AS {column.type})"


def name_table(table: Table) -> str:
    """The table under its schema, in double quotes."""
    return f"{enquote(table.schema)}.{enquote(table.name)}"


@lru_cache(maxsize=4096)
def list_reads(text: str, dialect: str) -> frozenset[str]:
    """The columns that a wrapper reads, as ``schema.table.column``, folded.

    If several of its tables have the same name, a column counts for each of them.
    """
    tree = parse_one(name_placeholders(text), READERS[dialect])
    tables: dict[str, set[str]] = {}
    for table in tree.find_all(exp.Table):
        if table.db:
            tables.setdefault(table.alias_or_name, set()).add(f"{table.db}.{table.name}")
    return frozenset(
        fold_name(f"{table}.{column.name}", dialect)
        for column in tree.find_all(exp.Column)
        for table in tables.get(column.table, ())
    )
