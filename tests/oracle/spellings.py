"""One query written in other ways: case, quotes, schemas, comments, aliases and names that shadow.

Every rule takes the query's text and returns it changed, with the same meaning on the same
database, or an empty text where it does not apply.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from nl2sql.catalog import Catalog, Table
from nl2sql.sql.names import fold_name, quote_name

# Text, quoted names, comments: what no rule may change.
_FIXED = re.compile(r"('(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/)", re.DOTALL)
_BLANKS = re.compile(r"\s+")

Rule = Callable[[str, Catalog], str]


def respell_query(sql: str, catalog: Catalog) -> Iterator[tuple[str, str]]:
    """(name of the rule, the query by it)."""
    for name, rule in RULES.items():
        try:
            text = rule(sql, catalog)
        except SqlglotError:
            continue
        if text and text != sql:
            yield name, text


def upper_case(sql: str, catalog: Catalog) -> str:
    """Everything but texts and quoted names in upper case.

    >>> upper_case("SELECT a FROM t WHERE b = 'x'", Catalog("d", ()))
    "SELECT A FROM T WHERE B = 'x'"
    """
    return _change_free(sql, str.upper)


def add_comments(sql: str, catalog: Catalog) -> str:
    """Puts a comment in the place of every blank.

    >>> add_comments("SELECT a", Catalog("d", ()))
    "SELECT /* ' ; -- */ a"
    """
    return _change_free(sql, lambda part: _BLANKS.sub(" /* ' ; -- */ ", part))


def add_line_comments(sql: str, catalog: Catalog) -> str:
    """Puts a comment to the end of the line in the place of every blank."""
    return _change_free(sql, lambda part: _BLANKS.sub(" -- */ '\n", part))


def quote_names(sql: str, catalog: Catalog) -> str:
    """Every name in quotes, as the database stores it."""
    tree = _parse(sql, catalog)
    for identifier in tree.find_all(exp.Identifier):
        if not identifier.args.get("quoted"):
            if catalog.dialect == "postgres":
                identifier.set("this", identifier.name.lower())
            identifier.set("quoted", True)
    return tree.sql(catalog.dialect)


def qualify_tables(sql: str, catalog: Catalog) -> str:
    """Every table under its schema, with an alias where it had none."""
    tree = _parse(sql, catalog)
    for node, table in _find_physical(tree, catalog):
        if not node.alias:
            node.set("alias", exp.TableAlias(this=node.this.copy()))
        node.set("db", exp.to_identifier(table.schema, quoted=True))
    return tree.sql(catalog.dialect)


def qualify_columns(sql: str, catalog: Catalog) -> str:
    """``schema.table.column`` for columns that name their table, and no alias on the table."""
    tree = _parse(sql, catalog)
    names = {
        fold_name(node.name, catalog.dialect): table for node, table in _find_bare(tree, catalog)
    }
    found = False
    for column in tree.find_all(exp.Column):
        table = names.get(fold_name(column.table, catalog.dialect))
        if table is not None:
            column.set("db", exp.to_identifier(table.schema))
            found = True
    return tree.sql(catalog.dialect) if found else ""


def shadow_by_alias(sql: str, catalog: Catalog) -> str:
    """An alias becomes the name of another table."""
    tree = _parse(sql, catalog)
    aliased = [(node, table) for node, table in _find_physical(tree, catalog) if node.alias]
    aliases = [alias.name.lower() for alias in tree.find_all(exp.TableAlias)]
    for node, table in aliased:
        if aliases.count(node.alias.lower()) != 1:
            continue
        used = {node.name.lower() for node in tree.find_all(exp.Table)} | set(aliases)
        other = next(
            (
                other_table.name
                for other_table in catalog.tables
                if other_table is not table
                and quote_name(other_table.name, catalog.dialect).lower() not in used
            ),
            None,
        )
        if other is None:
            continue
        old = node.alias.lower()
        for column in tree.find_all(exp.Column):
            if column.table.lower() == old:
                column.set("table", exp.to_identifier(other, quoted=True))
        node.set("alias", exp.TableAlias(this=exp.to_identifier(other, quoted=True)))
        return tree.sql(catalog.dialect)
    return ""


def shadow_by_cte(sql: str, catalog: Catalog) -> str:
    """A CTE that bears a table's name and holds the table, put before the query."""
    return _add_cte(sql, catalog, qualified=True)


def shadow_by_own_cte(sql: str, catalog: Catalog) -> str:
    """The same without the schema: within the CTE the name still means the table."""
    return _add_cte(sql, catalog, qualified=False)


RULES: Mapping[str, Rule] = {
    "upper_case": upper_case,
    "comments": add_comments,
    "line_comments": add_line_comments,
    "quoted": quote_names,
    "qualified": qualify_tables,
    "qualified_columns": qualify_columns,
    "alias_shadows": shadow_by_alias,
    "cte_shadows": shadow_by_cte,
    "cte_shadows_itself": shadow_by_own_cte,
}


def _parse(sql: str, catalog: Catalog) -> exp.Expr:
    tree = sqlglot.parse_one(sql, dialect=catalog.dialect)
    assert isinstance(tree, exp.Expr)
    return tree


def _change_free(sql: str, change: Callable[[str], str]) -> str:
    parts = _FIXED.split(sql)
    return "".join(part if at % 2 else change(part) for at, part in enumerate(parts))


def _find_physical(tree: exp.Expr, catalog: Catalog) -> list[tuple[exp.Table, Table]]:
    """The tables of the query that are no CTE's, with what the catalog knows of them."""
    ctes = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    found = []
    for node in tree.find_all(exp.Table):
        if node.name.lower() not in ctes or node.db:
            name = node.name if node.this.args.get("quoted") else node.name.lower()
            table = catalog.resolve(name, node.db)
            if table is not None:
                found.append((node, table))
    return found


def _find_bare(tree: exp.Expr, catalog: Catalog) -> list[tuple[exp.Table, Table]]:
    return [(node, table) for node, table in _find_physical(tree, catalog) if not node.alias]


def _add_cte(sql: str, catalog: Catalog, *, qualified: bool) -> str:
    tree = _parse(sql, catalog)
    if not isinstance(tree, exp.Query):
        return ""
    found = next(
        ((node, table) for node, table in _find_physical(tree, catalog) if not node.db), None
    )
    clause = tree.args.get("with_")
    if found is None or (clause is not None and clause.args.get("recursive")):
        return ""
    node, table = found
    name = node.this.sql(catalog.dialect)
    source = f'"{table.schema}".{name}' if qualified else name
    cte = f"{name} AS (SELECT * FROM {source})"
    if clause is None:
        return f"WITH {cte} {tree.sql(catalog.dialect)}"
    rest = tree.sql(catalog.dialect)
    return f"WITH {cte}, {rest[5:]}" if rest.upper().startswith("WITH ") else ""
