"""Every function that is measured is measured, or refused, however its call is spelled."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from execution.allowlists import load_allowlist, load_function_names
from execution.guard.growing_calls import CHECKS
from execution.guard.guard import guard_query
from execution.guard_dialects import READERS
from execution.policies.access import open_access
from nl2sql.catalog import Catalog, Column, Table
from nl2sql.types import GuardedQuery, Violation
from tests.execution.expecting import expect

_NAMES = load_function_names("growth")
_LONG = f"'{'x' * 2000}'"
_ROWS = {
    "postgres": "generate_series(1, 90000) AS g (i)",
    "duckdb": "range(90000) AS g (i)",
    "sqlite": "(WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 90000) "
    "SELECT i FROM n) AS g",
}

# A call with arguments of which it makes far too much, and what it stands in: {} is the call.
# The first argument is apart, for it may stand before a dot.
_BOMBS: dict[str, tuple[str, str, str]] = {
    "array_replace": ("string_to_array(repeat('1', 9999), NULL)", f"'1', {_LONG}", "SELECT {}"),
    "array_to_string": ("string_to_array(repeat('1', 9999), NULL)", f"{_LONG}", "SELECT {}"),
    "concat_ws": ("repeat(repeat('x', 10000), 99)", ", ".join(["''"] * 20), "SELECT {}"),
    "format": ("'%100000000s'", "'x'", "SELECT {}"),
    "generate_series": ("1", "100000000", "SELECT * FROM {} AS g"),
    "jsonb_path_exists": ("'[]'::jsonb", "'$.**.**'", "SELECT {}"),
    "jsonb_pretty": (f"'{'[' * 6000}{']' * 6000}'::jsonb", "", "SELECT {}"),
    "lpad": ("'x'", "100000000", "SELECT {}"),
    "percentile_disc": (
        f"ARRAY[{', '.join(['0.5'] * 300)}]",
        "",
        "SELECT {} WITHIN GROUP (ORDER BY repeat(t, 10000)) FROM (SELECT 'xx' AS t) AS t",
    ),
    "printf": ("'%.100000000d'", "1", "SELECT {}"),
    "quantile_disc": ("repeat('x', 10000)", f"[{', '.join(['0.5'] * 300)}]", "SELECT {}"),
    "range": ("1", "100000000", "SELECT * FROM {} AS g"),
    "regexp_replace": ("repeat('x', 9999)", f"'x', {_LONG}, 'g'", "SELECT {}"),
    "repeat": ("'x'", "100000000", "SELECT {}"),
    "replace": ("repeat('x', 9999)", f"'x', {_LONG}", "SELECT {}"),
    "rpad": ("'x'", "100000000", "SELECT {}"),
}
_LIKE = {
    "jsonb_path_match": "jsonb_path_exists",
    "jsonb_path_query_first": "jsonb_path_exists",
    "approx_quantile": "quantile_disc",
    "percentile_cont": "percentile_disc",
    "quantile": "quantile_disc",
    "quantile_cont": "quantile_disc",
}
# Aggregates that hold all that they are given.
_GATHERING = frozenset(
    "array_agg group_concat histogram json_agg json_group_array json_group_object json_object_agg "
    "jsonb_agg jsonb_object_agg list listagg string_agg".split()
)
_SQLITE = {
    "concat_ws": (
        "replace('" + "x" * 3000 + "', 'x', '" + "x" * 3000 + "')",
        ", ".join(["''"] * 20),
        "SELECT {}",
    ),
    "replace": (
        "replace('" + "x" * 3000 + "', 'x', '" + "x" * 3000 + "')",
        "'x', '" + "x" * 3000 + "'",
        "SELECT {}",
    ),
}
_DUCKDB = {
    "array_to_string": ("string_split(repeat('1,', 9999), ',')", f"{_LONG}", "SELECT {}"),
    "format": ("'{:100000000}'", "'x'", "SELECT {}"),
}


def list_measured(dialect: str) -> list[str]:
    """The functions of a dialect that are measured, by name."""
    nodes = {name.lower() for name in READERS[dialect].parser_class.FUNCTIONS}
    told = CHECKS.keys() | _NAMES["multiplying"] | _NAMES["gathering"]
    measured = nodes | told | _BOMBS.keys() | _LIKE.keys() | _GATHERING
    return sorted(measured & load_allowlist(dialect).functions)


def write_bomb(name: str, dialect: str) -> tuple[str, str, str]:
    """The first argument, the others and the query around the call."""
    if name in _GATHERING:
        second = ", 'y'" if "object" in name or name in ("string_agg", "listagg") else ""
        text = f"'{'x' * 1000}'"
        return text, second.removeprefix(", "), f"SELECT {{}} FROM {_ROWS[dialect]}"
    own = {"sqlite": _SQLITE, "duckdb": _DUCKDB}.get(dialect, {})
    return own.get(name) or _BOMBS[_LIKE.get(name, name)]


def spell(name: str, first: str, rest: str, dialect: str) -> Iterator[tuple[str, str]]:
    """(title, call) for every spelling that a database or a parser may take for the call."""
    args = f"{first}, {rest}" if rest else first
    for written in (name, name.upper(), name.title(), f'"{name}"', f'"{name.upper()}"'):
        yield written, f"{written}({args})"
        yield f"{written} spaced", f"{written} /* a */ ({args})"
        for schema in ("pg_catalog", '"pg_catalog"', "PG_CATALOG", "main", "system.main", "public"):
            yield f"{schema}.{written}", f"{schema}.{written}({args})"
            yield f"{schema} . {written}", f"{schema} . {written} ({args})"
    yield "backticks", f"`{name}`({args})"
    yield "brackets", f"[{name}]({args})"
    yield "method", f"({first}).{name}({rest})"
    yield "quoted method", f'({first})."{name}"({rest})'
    yield "named with =>", f"{name}(a => {args})"
    yield "named with :=", f"{name}(a := {args})"
    named = ", ".join(
        f"{chr(97 + at)} := {argument}" for at, argument in enumerate(args.split(", "))
    )
    yield "all named", f"{name}({named})"
    yield "variadic", f"{name}(VARIADIC ARRAY[{args}])"
    yield "variadic last", f"{name}({first}, VARIADIC ARRAY[{rest or first}])"
    yield "distinct", f"{name}(DISTINCT {args})"
    yield "cast", f"CAST({name}({args}) AS text)"
    yield "cast behind a schema", f"pg_catalog.{name}({args})::text"
    yield "subscript", f"(pg_catalog.{name}({args}))[1]"


CASES = [
    pytest.param(dialect, name, id=f"{dialect}-{name}")
    for dialect in ("postgres", "sqlite", "duckdb")
    for name in list_measured(dialect)
]


def guard(sql: str, dialect: str) -> GuardedQuery | Violation:
    table = Table("main", "t", (Column("a", "text"),))
    return guard_query(sql, open_access(Catalog("shop", (table,), dialect=dialect)))


@pytest.mark.long
@pytest.mark.parametrize(("dialect", "name"), CASES)
def test_what_is_measured_is_bounded_or_refused_in_every_spelling(dialect: str, name: str) -> None:
    first, rest, around = write_bomb(name, dialect)
    passed = [
        title
        for title, call in spell(name, first, rest, dialect)
        if isinstance(guard(around.format(call), dialect), GuardedQuery)
    ]
    assert not passed


@pytest.mark.parametrize(("dialect", "name"), CASES)
def test_the_plain_spelling_is_refused_for_its_size(dialect: str, name: str) -> None:
    first, rest, around = write_bomb(name, dialect)
    call = f"{name}({first}, {rest})" if rest else f"{name}({first})"
    verdict = expect(Violation, guard(around.format(call), dialect))
    assert verdict.code in ("too_much_text", "too_many_rows"), verdict.message


_LIST = "('[' || repeat('1,', 9000) || '1]')"
# What takes a long text apart into rows, with the text.
_TAKEN_APART = {
    "postgres": {
        "generate_subscripts": "string_to_array(repeat('1,', 9000), ','), 1",
        "json_array_elements": f"{_LIST}::json",
        "json_array_elements_text": f"{_LIST}::json",
        "json_each": f"{_LIST}::json",
        "json_each_text": f"{_LIST}::json",
        "json_object_keys": f"{_LIST}::json",
        "jsonb_array_elements": f"{_LIST}::jsonb",
        "jsonb_array_elements_text": f"{_LIST}::jsonb",
        "jsonb_each": f"{_LIST}::jsonb",
        "jsonb_each_text": f"{_LIST}::jsonb",
        "jsonb_object_keys": f"{_LIST}::jsonb",
        "regexp_matches": "repeat('1,', 9000), '.', 'g'",
        "regexp_split_to_table": "repeat('1,', 9000), ','",
        "string_to_table": "repeat('1,', 9000), ','",
        "unnest": "string_to_array(repeat('1,', 9000), ',')",
    },
    "sqlite": {"json_each": "printf('%9000d', 1)", "json_tree": "printf('%9000d', 1)"},
    "duckdb": {
        "json_each": _LIST,
        "json_tree": _LIST,
        "unnest": "string_split(repeat('1,', 9000), ',')",
    },
}


@pytest.mark.parametrize(
    ("dialect", "call"),
    [
        (dialect, f"{name}({argument})")
        for dialect, calls in _TAKEN_APART.items()
        for name, argument in calls.items()
    ],
)
def test_rows_that_are_taken_out_of_a_long_text_count(dialect: str, call: str) -> None:
    text = "repeat('x', 9999)" if dialect != "sqlite" else "printf('%9999s', 'x')"
    calls = (call, f"pg_catalog.{call}") if dialect == "postgres" else (call,)
    for spelled in calls:
        verdict = guard(f"SELECT string_agg({text}, '') FROM {spelled} AS s", dialect)
        assert isinstance(verdict, Violation)
        assert verdict.code == "too_much_text", verdict.message


def test_every_function_that_takes_apart_is_tried() -> None:
    for dialect, calls in _TAKEN_APART.items():
        # DuckDB's regexp_matches is a condition.
        conditions = {"regexp_matches"} if dialect == "duckdb" else set()
        spreading = _NAMES["spreading"] & load_allowlist(dialect).functions
        assert calls.keys() == spreading - conditions
