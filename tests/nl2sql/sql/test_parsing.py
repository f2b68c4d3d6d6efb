"""Parsing within bounds: what is given up, and that nothing parses anywhere else."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import sqlglot
from sqlglot.errors import ParseError

from nl2sql.sql.parsing import (
    MOST_CHARS,
    MOST_DEPTH,
    MOST_SOURCES,
    MOST_TOKENS,
    TooComplex,
    parse_one,
    parse_statements,
)

ROOT = Path(__file__).parents[3]
DIALECTS = ("postgres", "sqlite", "duckdb", "mysql", "tsql", "bigquery", "oracle")
FOLDERS = ("nl2sql retrieval generation ranking repair execution evaluation serve_app data").split()
# What reads a text as SQL; ``sqlglot.exp`` has some of them under other names.
PARSING = frozenset(
    "parse parse_one parse_into tokenize transpile maybe_parse condition to_table to_column "
    "from_str sqlglot.parse sqlglot.parse_one".split()
)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_ordinary_query_is_read_as_sqlglot_reads_it(dialect: str) -> None:
    sql = "SELECT a.b, count(*) FROM a JOIN c ON a.x = c.x WHERE d IN (1, 2) GROUP BY 1 LIMIT 3"
    assert parse_one(sql, dialect) == sqlglot.parse_one(sql, dialect=dialect)


@pytest.mark.parametrize("text", ["a <=> b", "1_000", "0xFF", "0b11", "0o17"])
def test_what_postgresql_reads_otherwise_is_not_read(text: str) -> None:
    """A query that is derived from such a text would have another meaning."""
    with pytest.raises(ParseError):
        parse_one(f"SELECT {text} FROM t", "postgres")
    # Bits, and a name after a space.
    assert parse_one("SELECT X'FF', B'1', 1 AS x, 1 y", "postgres").sql("postgres")


@pytest.mark.parametrize("text", ["SELECT {:1}", "SELECT {'a': 1, :2}"])
def test_what_sqlglot_stumbles_over_is_no_crash(text: str) -> None:
    with pytest.raises(ParseError, match="cannot be read"):
        parse_one(text, "duckdb")


@pytest.mark.parametrize("dialect", ["postgres", "sqlite", "duckdb"])
@pytest.mark.parametrize(
    ("opening", "closing"),
    [("DATE(", ")"), ("STRUCT(", ")"), ("DECIMAL(", ")"), ("DATE (", ")")],
)
def test_what_can_be_read_in_too_many_ways_is_given_up(
    opening: str, closing: str, dialect: str
) -> None:
    # Each level doubles the time of the parser: 35 would take it years.
    with pytest.raises(TooComplex, match="too many ways"):
        parse_one(f"SELECT {opening * 35}1{closing * 35}", dialect)


@pytest.mark.parametrize(
    ("opening", "closing"),
    [("(", ")"), ("[", "]"), ("{'a': ", "}"), ("CASE WHEN ", " THEN 1 END"), ("f(", ")")],
)
def test_what_is_nested_too_deeply_is_not_begun(opening: str, closing: str) -> None:
    deep = MOST_DEPTH + 1
    with pytest.raises(TooComplex, match="levels deep"):
        parse_one(f"SELECT {opening * deep}1{closing * deep}", "postgres")
    with pytest.raises(TooComplex, match="levels deep"):
        # What closes nothing does not make room, and nothing has to be closed.
        parse_one(f"SELECT ){opening * deep}1", "postgres")


def test_what_is_too_long_is_not_begun() -> None:
    with pytest.raises(TooComplex, match="characters"):
        parse_one(f"SELECT '{'a' * MOST_CHARS}'", "postgres")
    with pytest.raises(TooComplex, match="words and signs"):
        parse_one(f"SELECT {'1, ' * (MOST_TOKENS // 2)} 1", "postgres")


def test_too_many_tables_and_subqueries_are_given_up() -> None:
    def build(tables: int) -> str:
        return "SELECT 1 FROM " + ", ".join(f"t AS t{number}" for number in range(tables))

    parse_one(build(MOST_SOURCES - 1), "postgres")
    with pytest.raises(TooComplex, match="tables and subqueries"):
        parse_one(build(MOST_SOURCES), "postgres")
    assert len(parse_statements(build(MOST_SOURCES), "postgres", times=2)) == 1


def test_a_type_in_quotes_is_paid_for() -> None:
    # Each try at a type reads the name in quotes as a text of its own.
    name = "decimal(" * 1_500
    with pytest.raises(TooComplex, match="too many ways"):
        parse_one(f'SELECT x::"{name}"', "postgres")


def find_parsing(tree: ast.Module) -> list[int]:
    """The lines that call or import what parses, with sqlglot imported in any way."""
    modules, names, lines = set(), set(), []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {
                (name.asname or name.name).split(".")[0]
                for name in node.names
                if name.name.split(".")[0] == "sqlglot"
            }
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sqlglot"):
            names |= {name.asname or name.name for name in node.names}
            lines += [node.lineno for name in node.names if name.name in PARSING]
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in PARSING:
            base: ast.expr = node.value
            while isinstance(base, ast.Attribute | ast.Call):
                base = base.value if isinstance(base, ast.Attribute) else base.func
            if isinstance(base, ast.Name) and base.id in modules | names:
                lines.append(node.lineno)
    return lines


def test_nothing_else_parses() -> None:
    found = []
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            lines = find_parsing(ast.parse(path.read_text()))
            found += [f"{path.relative_to(ROOT)}:{line}" for line in lines]
    allowed = "nl2sql/sql/parsing.py:"
    assert [place for place in found if not place.startswith(allowed)] == []


@pytest.mark.parametrize(
    "value",
    [
        "name" + ".upper()" * 200,
        "(name" + ".upper()" * 100 + ")" + ".upper()" * 100,
        "f(name" + ".g()" * 100 + ")" + ".h()" * 100,
        "name" + ".and.f()" * 200,
        "name" + ".f().*" * 200,
        "name" + (".case" + ".f()" * 10 + ".end") * 20,
    ],
)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_long_chain_of_calls_behind_dots_is_given_up(value: str, dialect: str) -> None:
    with pytest.raises(TooComplex, match="dots"):
        parse_statements(f"SELECT {value} FROM t", dialect)


@pytest.mark.parametrize(
    "value", ["name" + ".upper()" * 100, ", ".join(["t.a + t.b * f(t.c)"] * 200), "a" + ".b" * 150]
)
def test_many_dots_are_read(value: str) -> None:
    assert parse_statements(f"SELECT {value} FROM t", "duckdb")
