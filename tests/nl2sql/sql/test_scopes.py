"""What stands in FROM, what a SELECT sees around it, and the walk over a tree."""

from __future__ import annotations

import pytest
from sqlglot import exp

from nl2sql.sql.parsing import parse_one
from nl2sql.sql.scopes import (
    QuerySource,
    fold_case,
    list_outputs,
    read_sources,
)


def describe(source: QuerySource) -> str:
    """``table t`` or ``query q`` or ``?``, with the names of its columns where it renames them."""
    meant = f"table {source.table.name}" if source.table is not None else "?"
    if source.query is not None:
        meant = f"query {source.query.sql()}"
    renamed = ", ".join(identifier.name for identifier in source.renamed)
    return meant + (f" ({renamed})" if renamed else "") + (" bracketed" if source.bracketed else "")


def read(sql: str) -> dict[str, str]:
    """The sources of the outermost SELECT."""
    tree = parse_one(sql, "postgres")
    assert isinstance(tree, exp.Select)
    return {name: describe(source) for name, source in read_sources(tree, fold_case).items()}


@pytest.mark.parametrize(
    ("sql", "sources"),
    [
        ("SELECT 1", {}),
        ("SELECT 1 FROM A", {"a": "table A"}),
        ("SELECT 1 FROM s.a AS X, b", {"x": "table a", "b": "table b"}),
        ("SELECT 1 FROM a JOIN b JOIN c ON true ON true",
         {"a": "table a", "b": "table b", "c": "table c"}),
        ("SELECT 1 FROM (a JOIN b ON true) JOIN c ON true",
         {"a": "table a bracketed", "b": "table b bracketed", "c": "table c"}),
        # Nothing in brackets is seen behind an alias.
        ("SELECT 1 FROM (a JOIN b ON true) AS x", {"x": "?"}),
        ("SELECT 1 FROM (SELECT y FROM t) AS x", {"x": "query SELECT y FROM t"}),
        ("SELECT 1 FROM (SELECT y FROM t) AS x(z)", {"x": "query SELECT y FROM t (z)"}),
        ("SELECT 1 FROM t AS x(z)", {"x": "table t (z)"}),
        ("SELECT 1 FROM f(1), f(2), f(3) AS g", {"?0": "?", "?1": "?", "g": "?"}),
        ("SELECT 1 FROM a, LATERAL (SELECT a.x) AS l", {"a": "table a", "l": "?"}),
        ("SELECT 1 FROM (VALUES (1)) AS v(x)", {"v": "? (x)"}),
        ("WITH c AS (SELECT y FROM t) SELECT 1 FROM C AS d, s.c",
         {"d": "query SELECT y FROM t", "c": "table c"}),
        ("WITH c(z) AS (SELECT y FROM t) SELECT 1 FROM c, c AS d(w)",
         {"c": "query SELECT y FROM t (z)", "d": "query SELECT y FROM t (w)"}),
        ("SELECT 1 FROM c WHERE EXISTS (WITH c AS (SELECT 2) SELECT 1 FROM c)", {"c": "table c"}),
    ],
)  # fmt: skip
def test_what_stands_in_from(sql: str, sources: dict[str, str]) -> None:
    assert read(sql) == sources


def test_the_outputs_of_a_union_are_those_of_its_first_query() -> None:
    tree = parse_one("((SELECT a, b AS c FROM t) UNION SELECT d, e) UNION SELECT f, g", "postgres")
    assert [output.sql() for output in list_outputs(tree)] == ["a", "b AS c"]
    assert list_outputs(parse_one("VALUES (1)", "postgres")) == []
