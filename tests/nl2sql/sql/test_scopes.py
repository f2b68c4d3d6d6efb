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
from tests.golden import load_changes


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


@pytest.mark.parametrize(("sql", "sources"), load_changes("sources"))
def test_what_stands_in_from(sql: str, sources: str) -> None:
    assert (
        "; ".join(f"{name}: {source}" for name, source in read(sql).items()) or "none"
    ) == sources


def test_the_outputs_of_a_union_are_those_of_its_first_query() -> None:
    tree = parse_one("((SELECT a, b AS c FROM t) UNION SELECT d, e) UNION SELECT f, g", "postgres")
    assert [output.sql() for output in list_outputs(tree)] == ["a", "b AS c"]
    assert list_outputs(parse_one("VALUES (1)", "postgres")) == []
