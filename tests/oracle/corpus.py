"""The queries that the oracle asks: found ones (gold of a benchmark), changed, and made ones.

Each is the gold itself, the gold inside another query (``wrappers.py``), the gold written otherwise
(``spellings.py``), or a query made for one table (``probes.py``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from nl2sql.catalog import Catalog
from nl2sql.sql.names import quote_name
from tests.oracle.probes import build_probes
from tests.oracle.spellings import respell_query
from tests.oracle.wrappers import wrap_query


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
    first = _name_first(tree, catalog)
    for kind, text in wrap_query(sql, dialect=catalog.dialect, first=first, table=table, key=key):
        yield Query(origin, kind, text)
    for kind, text in respell_query(sql, catalog):
        yield Query(origin, kind, text)


def build_table_queries(catalog: Catalog) -> Iterator[Query]:
    """The queries made for each table and view of the catalog."""
    for table in catalog.tables:
        for kind, text in build_probes(catalog, table):
            yield Query(table.qualified, kind, text)


def _find_table(tree: exp.Query, catalog: Catalog) -> tuple[str, str]:
    """A physical table of the query and its first column, as SQL; empty when there is none."""
    ctes = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    for node in tree.find_all(exp.Table):
        name = node.name if node.this.args.get("quoted") else node.name.lower()
        if name not in ctes and (table := catalog.resolve(name, node.db)):
            key = quote_name(table.columns[0].name, catalog.dialect)
            return f"{quote_name(table.schema, catalog.dialect)}." + quote_name(
                table.name, catalog.dialect
            ), key
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
