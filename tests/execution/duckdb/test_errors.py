"""DuckDB's errors as values: their SQLSTATEs, and what they may say to whom."""

from __future__ import annotations

import duckdb
import pytest

from execution.duckdb.database import DuckDbDatabase
from execution.duckdb.errors import SQLSTATES, build_diagnostic, is_gone
from nl2sql.types import Diagnostic
from tests.execution.duckdb.shop import fail, query
from tests.execution.expecting import expect
from tests.golden import load_cases


@pytest.mark.parametrize(
    ("sqlstate", "sql"),
    [
        *load_cases("errors_duckdb"),
        ("42601", ""),
        ("42601", f"SELECT {'(' * 3000}1{')' * 3000}"),
    ],
)
async def test_an_error_is_a_value_with_the_sqlstate_of_postgresql(
    sqlstate: str, sql: str, database: DuckDbDatabase
) -> None:
    found = await fail(database, sql)
    assert found.sqlstate == sqlstate, found
    assert found.message
    assert "\n" not in found.message
    assert "exception_message" not in found.message


async def test_an_error_says_where_and_what_instead(database: DuckDbDatabase) -> None:
    sql = "SELECT 'ä', nam FROM main.customers"
    found = await fail(database, sql)
    assert sql[found.position - 1 :].startswith("nam ")
    assert "Name" in found.hint
    explained = await database.explain(query(sql))
    assert explained == found


async def test_a_hint_names_no_setting_that_nobody_can_set(database: DuckDbDatabase) -> None:
    for sql in (
        "SELECT (SELECT id FROM main.customers)",
        "SELECT list(repeat(i::TEXT, 1000)) FROM range(1000000) AS r (i)",
    ):
        found = await fail(database, sql)
        assert found.hint
        assert "SET " not in f"{found.message} {found.hint}"


@pytest.mark.parametrize("kind", [*SQLSTATES, duckdb.HTTPException, duckdb.Warning])
def test_an_error_has_the_sqlstate_of_its_class(kind: type[Exception]) -> None:
    found = build_diagnostic(kind("Some Error: what it says\nand more"))  # type: ignore[arg-type]
    assert found.sqlstate == SQLSTATES.get(kind, "XX000" if kind is duckdb.Warning else "58030")
    assert found.message == "what it says"
    assert found.hint


@pytest.mark.parametrize(
    ("error", "gone"),
    [
        (duckdb.IOException("IO Error: Could not read"), True),
        (duckdb.FatalException("FATAL Error: database has been invalidated"), True),
        (duckdb.InterruptException("INTERRUPT Error: Interrupted!"), False),
        (duckdb.OutOfMemoryException("Out of Memory Error: failed"), False),
        (duckdb.BinderException("Binder Error: whatever"), False),
    ],
)
def test_a_file_at_fault_is_told_from_a_query_at_fault(error: duckdb.Error, gone: bool) -> None:
    assert is_gone(error) is gone


@pytest.mark.parametrize("sql", [sql for _, sql in load_cases("leaks_duckdb")])
async def test_no_error_carries_a_value_to_a_restricted_principal(
    sql: str, database: DuckDbDatabase
) -> None:
    open_ = await fail(database, sql)
    assert any(value in f"{open_.message} {open_.hint}" for value in ("Eve", "777", "900", "500"))
    result = expect(Diagnostic, await database.execute(query(sql, restricted=True), 10))
    assert result.sqlstate == open_.sqlstate
    for value in ("Eve", "Fay", "Gil", "900", "777", "500"):
        assert value not in f"{result.message} {result.hint}"
    assert "withheld" in result.message


async def test_a_restricted_principal_is_told_what_is_wrong_with_the_query(
    database: DuckDbDatabase,
) -> None:
    result = await database.execute(query("SELECT nope FROM main.customers", restricted=True), 10)
    assert isinstance(result, Diagnostic)
    assert "nope" in result.message
