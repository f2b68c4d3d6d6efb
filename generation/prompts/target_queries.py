"""Writes a gold query as the model should write it: with the names that its prompt shows.

Golds spell names in any case, quote texts like names (SQLite allows it), and read tables that
retrieval did not find. A model that learns from these would invent names. Nothing else is changed:
how a query is built is what the model learns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError
from sqlglot.generator import Generator

from nl2sql.catalog import Table
from nl2sql.sql.names import fold_name, quote_name
from nl2sql.sql.parsing import parse_one


def spell_query(
    sql: str, tables: Sequence[Table], names: Sequence[str], dialect: str
) -> str | None:
    """The query with every table and column spelled as shown; None if it reads another one.

    ``names`` are the SQL names of ``tables`` in the prompt.

    >>> from nl2sql.catalog import Column, Table
    >>> shown = Table("main", "Singer", (Column("Name", "text"), Column("Order", "int")))
    >>> gold = 'select t1.name FROM singer AS t1 WHERE NAME = "Ann" AND t1.order > 3'
    >>> spell_query(gold, [shown], ["Singer"], "sqlite")
    'SELECT t1.Name FROM Singer AS t1 WHERE Name = \\'Ann\\' AND t1."Order" > 3'
    >>> spell_query("SELECT x FROM elsewhere", [shown], ["Singer"], "sqlite") is None
    True
    """
    try:
        tree = parse_one(sql, dialect)
    except (SqlglotError, RecursionError):
        return None
    speller = _Speller(tables, names, dialect)
    if not isinstance(tree, exp.Query) or not speller.spell(tree):
        return None
    return _write(tree, dialect)


@cache
def _find_writer(dialect: str) -> type[Generator]:
    """A generator that writes ``x NOT IN …`` as people do; sqlglot writes ``NOT x IN …``."""
    base = Dialect.get_or_raise(dialect).generator_class

    class Writer(base):  # type: ignore[misc, valid-type]
        def not_sql(self, expression: exp.Not) -> str:
            inner = expression.this
            word = " IS" if isinstance(inner, exp.Is) else ""
            if isinstance(inner, (exp.In, exp.Like, exp.ILike, exp.Between, exp.Is)):
                left, whole = self.sql(inner, "this") + word, self.sql(inner)
                if whole.startswith(f"{left} "):
                    return f"{left} NOT{whole[len(left) :]}"
            text: str = super().not_sql(expression)
            return text

    return Writer


class _Speller:
    def __init__(self, tables: Sequence[Table], names: Sequence[str], dialect: str) -> None:
        self._dialect = dialect
        # Each table, and whether it is shown with its schema.
        self._tables: dict[str, tuple[Table, bool]] = {}
        for table, name in zip(tables, names, strict=True):
            shown = (table, name != quote_name(table.name, dialect))
            self._tables[fold_name(table.qualified, dialect)] = shown
            self._tables.setdefault(fold_name(table.name, dialect), shown)

    def spell(self, tree: exp.Query) -> bool:
        """Changes the tree; false if it reads a table or a column that is not shown."""
        ctes = {self._fold(cte.args["alias"].this) for cte in tree.find_all(exp.CTE)}
        read: list[Table] = []
        tables: dict[str, str] = {}
        for node in list(tree.find_all(exp.Table)):
            if not isinstance(node.this, exp.Identifier):
                return False
            if not node.db and self._fold(node.this) in ctes:
                continue
            key = ".".join(
                self._fold(part) for part in (node.args.get("db"), node.this) if part is not None
            )
            if key not in self._tables:
                return False
            table, has_schema = self._tables[key]
            read.append(table)
            tables[self._fold(node.this)] = table.name
            node.set("this", _build_name(table.name, self._dialect))
            node.set("db", _build_name(table.schema, self._dialect) if has_schema else None)
        columns = {
            fold_name(column.name, self._dialect): column.name
            for table in read
            for column in table.columns
        }
        return self._spell_columns(tree, columns, tables)

    def _spell_columns(
        self, tree: exp.Query, columns: Mapping[str, str], tables: Mapping[str, str]
    ) -> bool:
        made = {
            self._fold(node.args["alias"])
            for node in tree.find_all(exp.Alias, exp.Subquery)
            if isinstance(node.args.get("alias"), exp.Identifier)
        }
        for alias in tree.find_all(exp.TableAlias):
            made |= {self._fold(column) for column in alias.columns if column.name}
        for join in tree.find_all(exp.Join):
            for name in join.args.get("using") or ():
                if self._fold(name) not in columns:
                    return False
                name.replace(_build_name(columns[self._fold(name)], self._dialect))
        for node in list(tree.find_all(exp.Column)):
            if not isinstance(node.this, exp.Identifier):
                continue
            source = node.args.get("table")
            key = self._fold(node.this)
            if key in columns:
                node.set("this", _build_name(columns[key], self._dialect))
            elif key not in made:
                is_text = self._dialect == "sqlite" and node.this.args.get("quoted")
                if source is not None or not is_text:
                    return False
                # SQLite reads a quoted name that no column has as a text.
                node.replace(exp.Literal.string(node.this.name))
                continue
            if source is not None and self._fold(source) in tables:
                node.set("table", _build_name(tables[self._fold(source)], self._dialect))
        return True

    def _fold(self, identifier: exp.Identifier) -> str:
        name = identifier.name
        if self._dialect not in ("sqlite", "duckdb") and not identifier.args.get("quoted"):
            name = name.lower()
        return fold_name(name, self._dialect)


def _write(tree: exp.Expr, dialect: str) -> str:
    """The query as text, in one line."""
    return _find_writer(dialect)(dialect=dialect, normalize_functions="upper").generate(tree)


def _build_name(name: str, dialect: str) -> exp.Identifier:
    """The name as a node, quoted where the dialect wants it."""
    return exp.Identifier(this=name, quoted=quote_name(name, dialect) != name)
