"""The tables and columns that a gold query reads: the reference for the recall of retrieval.

Names are resolved as for lint and score (``ranking.query``), so a CTE with a table's name is not a
table. All columns named in the query count, also those that a derived table only passes on;
COUNT(*) and the star of an EXISTS read none. As in SQLite, a word in double quotes that is not a
column is a string. Not covered: NATURAL JOIN, whole rows as values, table functions.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from nl2sql.catalog import Catalog, Table
from nl2sql.sql.parsing import find_tree
from ranking.query import Query, read_query


def find_gold_schema(sql: str, catalog: Catalog) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The physical tables (``schema.table``) and columns (``schema.table.column``), each sorted.

    Names have the catalog's spelling. Both are empty if the query cannot be parsed.

    >>> from nl2sql.catalog import Column
    >>> stadium = Table("main", "Stadium", (Column("Name", "text"), Column("City", "text")))
    >>> catalog = Catalog("concerts", (stadium,), search_path=("main",), dialect="sqlite")
    >>> find_gold_schema('SELECT count(*) FROM stadium WHERE city = "Ayr"', catalog)
    (('main.Stadium',), ('main.Stadium.City',))
    """
    if (tree := find_tree(sql, catalog.dialect)) is None:
        return (), ()
    # Only those that the query may mean: of two of a name, the search path tells which.
    named = {_resolve(table, catalog) for table in tree.find_all(exp.Table)}
    query = read_query(sql, catalog.dialect, [table for table in named if table is not None])
    if query is None:
        return (), ()
    tables = {
        source
        for select in query.find_all(exp.Select)
        for source in query.sources(select).values()
        if isinstance(source, Table)
    }
    columns = {
        use.name
        for column in query.find_all(exp.Column)
        if (use := query.resolve(column)) is not None
    }
    columns.update(_list_unnamed(query))
    return tuple(sorted(table.qualified for table in tables)), tuple(sorted(columns))


def _resolve(table: exp.Table, catalog: Catalog) -> Table | None:
    quoted = isinstance(table.this, exp.Identifier) and table.this.quoted
    name, schema = (table.name, table.db) if quoted else (table.name.lower(), table.db.lower())
    return catalog.resolve(name, schema)


def _list_unnamed(query: Query) -> Iterator[str]:
    """The columns of tables that a star or USING stands for."""
    for select in query.find_all(exp.Select):
        sources = query.sources(select)
        named = {used.name.lower() for join in _list_joins(select) for used in join}
        for name, source in sources.items():
            if isinstance(source, Table):
                is_whole = not isinstance(select.parent, exp.Exists) and any(
                    isinstance(output, exp.Star)
                    or (output.is_star and output.table.lower() == name)
                    for output in select.expressions
                )
                for column in source.columns:
                    if is_whole or column.name.lower() in named:
                        yield f"{source.qualified}.{column.name}"


def _list_joins(select: exp.Select) -> Iterator[list[exp.Identifier]]:
    yield from (join.args.get("using") or [] for join in select.args.get("joins") or ())
