"""The queries that the oracle asks: found ones (golds), changed, and made ones.

Each is the gold itself, the gold inside another query (every scope in which a table of a query can
stand), the gold written otherwise (``spellings.py``), or a query made for one table, which it names
in a place of its own.

Templates are in ``templates/``: blocks headed by ``-- name:``, with slots in braces. Those of
wrappers have the query as ``{q}``; as ``{first}`` the first column of its result under the name
``d``; as ``{table}`` a physical table of it and as ``{key}`` a column of that. Where the result's
columns have no names of their own, templates with ``{first}`` are left out.

Those of probes have the table as ``{t}`` (as the search path finds it) and as ``{qualified}``, its
key ``{k}`` and another column ``{c}``, all ``{columns}``; where there is a foreign key, the table
``{u}`` at its other end with ``{tk}`` and ``{uk}``, the columns on both sides; ``{shadow}`` is the
bare name of another table. Slots that begin with ``upper`` and ``bare`` are names as they are, in
upper case or not, and only where they need no quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from nl2sql.catalog import Catalog, ForeignKey, Table
from nl2sql.sql.names import quote_name
from tests.oracle.spellings import respell_query

_FOLDER = Path(__file__).parent / "templates"
_HEAD = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)
_SLOT = re.compile(r"\{\w+\}")


def load_templates(*files: str) -> dict[str, str]:
    """Name → template of all the files named, without their ending. Raises OSError."""
    templates: dict[str, str] = {}
    for file in files:
        _, *parts = _HEAD.split((_FOLDER / f"{file}.sql").read_text(encoding="utf-8"))
        templates |= {
            name: text.strip() for name, text in zip(parts[::2], parts[1::2], strict=True)
        }
    return templates


def fill_template(template: str, fills: Mapping[str, str]) -> str:
    """The template with every slot filled; empty when one has no fill, or an empty one.

    >>> fill_template("SELECT {k} FROM {t}", {"k": "id", "t": "orders"})
    'SELECT id FROM orders'
    >>> fill_template("SELECT {k} FROM {t}", {"k": "", "t": "orders"})
    ''
    """
    slots = {slot: fills.get(slot[1:-1], "") for slot in _SLOT.findall(template)}
    if not all(slots.values()):
        return ""
    return _SLOT.sub(lambda match: slots[match[0]], template)


WRAPPERS = {
    dialect: load_templates("wrappers_common", f"wrappers_{dialect}")
    for dialect in ("postgres", "sqlite")
}
PROBES = {
    "postgres": load_templates("probes_common", "probes_postgres"),
    "sqlite": load_templates("probes_common"),
}
TREE_PROBES = load_templates("probes_tree")
"""For a foreign key of a table onto itself."""
_SEEDS = Path(__file__).parent / "seeds"


@dataclass(frozen=True, slots=True)
class Query:
    """One query of the corpus: where it comes from, and ``kind``, what was done to it."""

    origin: str
    kind: str
    sql: str

    @property
    def name(self) -> str:
        """Origin and kind."""
        return f"{self.origin} {self.kind}"


def list_queries(catalog: Catalog, golds: Iterable[tuple[str, str]]) -> list[Query]:
    """The whole corpus over one catalog: golds, their changes, and the tables' own queries."""
    return [*build_gold_queries(catalog, golds), *build_table_queries(catalog)]


def build_gold_queries(catalog: Catalog, golds: Iterable[tuple[str, str]]) -> Iterator[Query]:
    """Each of ``golds`` (identifier, SQL) without its semicolon, and all changes of it."""
    for origin, gold in golds:
        sql = gold.strip().rstrip(";")
        yield Query(origin, "gold", sql)
        yield from mutate_query(catalog, origin, sql)


def mutate_query(catalog: Catalog, origin: str, sql: str) -> Iterator[Query]:
    """All changes of one query; none where it cannot be parsed."""
    try:
        tree = sqlglot.parse_one(sql, dialect=catalog.dialect)
    except SqlglotError:
        return
    if not isinstance(tree, exp.Query):
        return
    table, key = _find_table(tree, catalog)
    fills = {"q": sql, "first": _name_first(tree, catalog), "table": table, "key": key}
    for kind, template in WRAPPERS[catalog.dialect].items():
        if text := fill_template(template, fills):
            yield Query(origin, kind, text)
    for kind, text in respell_query(sql, catalog):
        yield Query(origin, kind, text)


def build_table_queries(catalog: Catalog) -> Iterator[Query]:
    """The queries made for each table and view of the catalog."""
    for table in catalog.tables:
        for kind, text in _build_probes(catalog, table):
            yield Query(table.qualified, kind, text)


def load_seeds() -> list[str]:
    """Queries of every kind that PostgreSQL's regression tests cover, over the demo's tables.

    For the fuzzer to change: many are refused as they stand.
    """
    found: list[str] = []
    for path in sorted(_SEEDS.glob("*.sql")):
        lines = path.read_text(encoding="utf-8").splitlines()
        text = "\n".join(line for line in lines if not line.startswith("--"))
        found += [part.strip() for part in f"{text}\n".split(";\n") if part.strip()]
    return found


# -- what fills the templates ----------------------------------------------------------------------


def _build_probes(catalog: Catalog, table: Table) -> Iterator[tuple[str, str]]:
    """(name, query) for each template that the table's columns and keys can fill.

    With ``{u}`` in a template, one query for each foreign key of the table to another one.
    """
    plain = _fill_table(catalog, table)
    keys = [key for key in catalog.foreign_keys if key.table == table.qualified]
    for name, template in PROBES[catalog.dialect].items():
        if "{u}" not in template and "{tk}" not in template:
            if query := fill_template(template, plain):
                yield name, query
            continue
        for key in keys:
            target = catalog.table(key.target)
            if target is not None and target is not table:
                query = fill_template(template, plain | _fill_key(catalog, key, target))
                if query:
                    yield f"{name}/{key.columns[0]}", query
    for key in keys:
        if key.target == table.qualified:
            for name, template in TREE_PROBES.items():
                yield name, fill_template(template, plain | _fill_key(catalog, key, table))


def _fill_table(catalog: Catalog, table: Table) -> dict[str, str]:
    def quote(name: str) -> str:
        return quote_name(name, catalog.dialect)

    def list_names(names: Sequence[str], prefix: str = "") -> str:
        return ", ".join(f"{prefix}{quote(name)}" for name in names)

    keys = table.primary_key or (table.columns[0].name,)
    others = [column.name for column in table.columns if column.name not in keys]
    key, other = keys[0], (others or [keys[-1]])[-1]
    shadow = next((other.name for other in catalog.tables if other.name != table.name), "x")
    name = quote(table.name)
    is_plain = name == table.name.lower() and quote(key) == key.lower()
    return {
        "t": catalog.short_names[table.qualified],
        "qualified": f"{quote(table.schema)}.{name}",
        "schema": table.schema,
        "name": name,
        "shadow": quote(shadow),
        "k": quote(key),
        "c": quote(other),
        "columns": list_names([column.name for column in table.columns]),
        "key_columns": list_names(table.primary_key),
        "key_columns_a": list_names(table.primary_key, "a."),
        "bare_name": table.name if is_plain else "",
        "bare_k": key if is_plain else "",
        "upper_t": f"{table.schema}.{table.name}".upper() if is_plain else "",
        "upper_k": key.upper() if is_plain else "",
    }


def _fill_key(catalog: Catalog, key: ForeignKey, target: Table) -> dict[str, str]:
    return {
        "u": catalog.short_names[target.qualified],
        "tk": quote_name(key.columns[0], catalog.dialect),
        "uk": quote_name(key.target_columns[0], catalog.dialect),
    }


def _find_table(tree: exp.Query, catalog: Catalog) -> tuple[str, str]:
    """A physical table of the query and its first column, as SQL; empty when there is none."""
    ctes = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    for node in tree.find_all(exp.Table):
        name = node.name if node.this.args.get("quoted") else node.name.lower()
        if name not in ctes and (table := catalog.resolve(name, node.db)):
            schema, name, key = (
                quote_name(part, catalog.dialect)
                for part in (table.schema, table.name, table.columns[0].name)
            )
            return f"{schema}.{name}", key
    return "", ""


def _name_first(tree: exp.Query, catalog: Catalog) -> str:
    """The result's first column as ``d.name``; empty where it has no name of its own."""
    names = tree.named_selects
    if not names or names[0] in ("", "*") or names.count(names[0]) > 1:
        return ""
    select = tree.selects[0]
    quoted = select.this if isinstance(select, exp.Column) else select.args.get("alias")
    is_quoted = isinstance(quoted, exp.Identifier) and quoted.args.get("quoted")
    folded = names[0] if is_quoted or catalog.dialect == "sqlite" else names[0].lower()
    return "d." + '"' + folded.replace('"', '""') + '"'
