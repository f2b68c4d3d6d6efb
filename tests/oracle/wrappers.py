"""Queries put inside other queries: every scope in which a table of a query can stand.

The templates have the query as ``{q}``; as ``{first}`` the first column of its result under the
name ``d``; as ``{table}`` a physical table of it and as ``{key}`` a column of that. Where the
result's columns have no names of their own, templates with ``{first}`` are left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.oracle.templates import fill_template, load_templates

WRAPPERS = {
    dialect: load_templates("wrappers_common", f"wrappers_{dialect}")
    for dialect in ("postgres", "sqlite")
}


def wrap_query(
    query: str, *, dialect: str, first: str, table: str, key: str
) -> Iterator[tuple[str, str]]:
    """(name of the wrapper, the query inside it).

    >>> wrapped = dict(wrap_query(
    ...     "SELECT 1 AS a", dialect="postgres", first="d.a", table="t", key="k"))
    >>> wrapped["group"].splitlines()
    ['SELECT d.a, count(*) AS n FROM (', 'SELECT 1 AS a', ') AS d GROUP BY d.a']
    """
    fills = {"q": query, "first": first, "table": table, "key": key}
    for name, template in WRAPPERS[dialect].items():
        if text := fill_template(template, fills):
            yield name, text
