"""Notes on a result: told from the database, under the guard, or not at all."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import duckdb
import pytest

from nl2sql.types import ResultSet
from ranking.query import read_query
from ranking.result_notes import (
    Notes,
    build_probe,
    list_part_probes,
    list_text_conditions,
    write_notes,
)
from tests.fakes import (
    FakeExecutor,
    FakeGuard,
    build_diagnostic,
    build_question,
    build_result,
    build_table,
    build_violation,
)
from tests.golden import ARROW, load_cases

QUESTION = build_question()
ORDERS = build_table("sales.orders", "id integer", "status text", "placed date", "sent timestamp")
CLOSED = """SELECT 1 FROM "sales"."orders" WHERE "status" = 'CLOSED' LIMIT 1"""
PLACED = 'SELECT MIN("placed"), MAX("placed") FROM "sales"."orders"'
SENT = 'SELECT MIN("sent"), MAX("sent") FROM "sales"."orders"'
FILLED = """SELECT 1 FROM "sales"."orders" WHERE NOT "status" IS NULL LIMIT 1"""
NOTHING = ResultSet(("?column?",), ("int4",), (), False, 1.0)
NOTHING_SEEN = build_result((None, None))


async def explain(sql: str, executor: FakeExecutor, guard: FakeGuard | None = None) -> list[str]:
    query = read_query(f"SELECT id FROM orders WHERE {sql}", "postgres", [ORDERS])
    assert query is not None
    notes = await write_notes(guard or FakeGuard(), executor, QUESTION, query, is_empty=True)
    return list(notes.sentences)


async def test_a_text_that_no_row_has() -> None:
    executor = FakeExecutor({CLOSED: [NOTHING], FILLED: [NOTHING]})
    notes = await explain("status = 'CLOSED'", executor)
    assert notes == ["No row that you may see has orders.status = 'CLOSED'."]


@pytest.mark.parametrize(("found", "case"), load_cases("unstored_texts"))
@pytest.mark.parametrize("is_filled", [True, False])
async def test_a_column_may_have_none_of_the_texts(found: str, case: str, is_filled: bool) -> None:
    condition, _, stored = case.partition(ARROW)
    query = read_query(f"SELECT id FROM orders WHERE {condition}", "postgres", [ORDERS])
    assert query is not None
    one = build_result((1,))
    rows = {FILLED: [one if is_filled else NOTHING]}
    for use, text in list_text_conditions(query):
        probe = build_probe(use, text, "postgres")
        rows[probe] = [one if stored and stored in probe else NOTHING]
    notes = await write_notes(FakeGuard(), FakeExecutor(rows), QUESTION, query, is_empty=True)
    assert notes.is_unstored == (found == "unstored" and is_filled)


@pytest.mark.parametrize(
    ("column", "condition"),
    [
        ("placed", "placed >= '2025-01-01' AND placed < '2026-01-01'"),
        ("placed", "extract(year FROM placed) = 2025"),
        ("placed", "placed BETWEEN '2025-01-01' AND now()"),
        ("placed", "to_char(placed, 'YYYY') IN ('2025')"),
        ("sent", "sent > now()"),  # a time is told as its day
    ],
)
async def test_the_period_that_the_data_cover(column: str, condition: str) -> None:
    ends = {PLACED: (date(2022, 1, 3), date(2024, 12, 30))}
    ends[SENT] = (datetime(2022, 1, 3, 8, 30), datetime(2024, 12, 30))
    executor = FakeExecutor({sql: [build_result(found)] for sql, found in ends.items()})
    notes = await explain(condition, executor)
    assert notes == [f"orders.{column} goes from 2022-01-03 to 2024-12-30 in what you may see."]


@pytest.mark.parametrize(
    ("condition", "ends", "is_unstored"),
    [
        ("placed > '2025-01-01'", (date(2024, 1, 2), date(2024, 1, 2)), True),
        ("placed > '2025-01-01'", (date(2024, 1, 2), date(2024, 1, 3)), False),
        ("id > 500000000", (2, Decimal("899.5")), True),
        ("id > 900", (2, 899), False),
        ("id BETWEEN 100 AND 200", (float("nan"), float("nan")), False),
        ("id > 10", ("2024-01-02", None), False),
    ],
)
async def test_a_column_may_have_one_day_or_no_such_number(
    condition: str, ends: tuple[object, object], is_unstored: bool
) -> None:
    query = read_query(f"SELECT id FROM orders WHERE {condition}", "postgres", [ORDERS])
    assert query is not None
    column = condition.split()[0]
    sql = f'SELECT MIN("{column}"), MAX("{column}") FROM "sales"."orders"'
    found = FakeExecutor({sql: [build_result(ends)]})
    notes = await write_notes(FakeGuard(), found, QUESTION, query, is_empty=True)
    assert notes.is_unstored == is_unstored
    assert len(notes.sentences) == (ends[1] is not None)


@pytest.mark.parametrize("ends", [("2022-01-03", "2024-12-30T08:30:00"), ("0044-03-15 BC", "x")])
async def test_a_text_may_be_a_day(ends: tuple[str, str]) -> None:
    """As SQLite has no days of its own."""
    found = build_result(ends)
    executor = FakeExecutor({'SELECT MIN("status"), MAX("status") FROM "sales"."orders"': [found]})
    told = ["orders.status goes from 2022-01-03 to 2024-12-30 in what you may see."]
    notes = await explain("lower(status) > '2025-01-01'", executor)
    assert notes == (told if ends[1] != "x" else [])


async def test_each_is_asked_as_the_principal_with_a_short_time() -> None:
    guard, executor = (
        FakeGuard(),
        FakeExecutor({CLOSED: [build_result((1,))], PLACED: [NOTHING_SEEN]}),
    )
    assert await explain("status = 'CLOSED' AND placed > now()", executor, guard) == []
    principal = QUESTION.principal
    assert guard.guarded == [("shop", CLOSED, principal), ("shop", PLACED, principal)]
    assert all(limits and limits.timeout_ms == 1000 for limits in executor.limits)


async def test_what_is_refused_or_fails_is_not_mentioned() -> None:
    guard = FakeGuard({CLOSED: build_violation("not_permitted")})
    executor = FakeExecutor({PLACED: [build_diagnostic()]})
    assert await explain("status = 'CLOSED' AND placed > now()", executor, guard) == []
    assert [query.sql for query, _ in executor.executed] == [PLACED]


async def test_conditions_on_anything_else_are_not_asked_about() -> None:
    executor = FakeExecutor()
    assert await explain("id <> 3 AND status <> 'CLOSED' AND -id > 3", executor) == []
    assert executor.executed == []


Row = tuple[object, ...]
MISSING = """SELECT 1 FROM "sales"."orders" WHERE "status" IS NULL LIMIT 1"""


@pytest.mark.parametrize(
    ("question", "sql", "missing", "notes"),
    [
        (
            "Which are not closed?",
            "SELECT id FROM orders WHERE status <> 'CLOSED'",
            [build_result((1,))],
            ["Rows without a value in orders.status are left out."],
        ),
        ("Which are not closed?", "SELECT id FROM orders WHERE status <> 'CLOSED'", [NOTHING], []),
        ("How many are there for each status?", "SELECT status, count(*) FROM orders", [], []),
        ("", "SELECT id FROM orders WHERE status <> 'CLOSED' OR status IS NULL", [], []),
    ],
)
async def test_what_an_answer_leaves_out(
    question: str, sql: str, missing: list[ResultSet], notes: list[str]
) -> None:
    query = read_query(sql, "postgres", [ORDERS])
    assert query is not None
    executor = FakeExecutor({MISSING: missing})
    asked = build_question(text=question)
    found = await write_notes(FakeGuard(), executor, asked, query, is_empty=False)
    assert list(found.sentences) == notes


STATUSES = ["long, " * 40, "new", "old, new", "Odd | rare", "it's;old", "newest, old", None]
SPAN = """SELECT MIN("status"), MAX("status"), MIN(LENGTH("status")), MAX(LENGTH("status"))"""


@pytest.mark.parametrize(
    ("end", "span"),
    [
        ("ORDER BY status DESC LIMIT 3", ("10,000,000", "97,000,000", 9, 11)),
        ("WHERE status > '90'", ("101 min", "95 min", 6, 7)),
        ("HAVING MAX(status) > 'x'", ("01/12/2022", "28/07/2020", 10, 10)),
        ("ORDER BY status DESC", ()),
        ("ORDER BY placed LIMIT 3", ()),
        ("WHERE status = LOWER('90')", ()),
    ],
)
@pytest.mark.parametrize(
    "right",
    [(None,) * 4, ("2019", "2024-01-01", 4, 10), ("9 to 5", "Up", 2, 20), ("10", "95", 2, 2)],
)
async def test_numbers_and_days_that_are_texts(end: str, span: Row, right: Row) -> None:
    query = read_query(f"SELECT id FROM orders {end}", "postgres", [ORDERS])
    assert query is not None
    for row in (span, right) if span else ():
        executor = FakeExecutor({f'{SPAN} FROM "sales"."orders"': [build_result(row)]})
        found = await write_notes(FakeGuard(), executor, QUESTION, query, is_empty=False)
        assert (found.is_doubtful, len(found.sentences)) == (row is span,) * 2
    if not span:
        found = await write_notes(FakeGuard(), FakeExecutor(), QUESTION, query, is_empty=False)
        assert not found.sentences


@pytest.mark.parametrize(
    ("sql", "probes"),
    [
        (
            "SELECT placed AS day, status, COUNT(*) AS n FROM orders GROUP BY 1"
            " HAVING n > 2 OR n = 1 ORDER BY 3 LIMIT 5",
            [
                "SELECT placed AS day, status, COUNT(*) AS n FROM orders GROUP BY 1"
                " HAVING (n > 2 OR n = 1) AND COUNT(DISTINCT status) > 1 LIMIT 1"
            ],
        ),
        ("SELECT LOWER(status), COUNT(*) FROM orders GROUP BY LOWER(status)", []),
        ("SELECT status, placed, MAX(id) FROM orders GROUP BY status", []),
        ("SELECT status, COUNT(*) FROM orders", []),
    ],
)
async def test_a_column_outside_its_group(sql: str, probes: list[str]) -> None:
    query = read_query(sql, "sqlite", [ORDERS])
    assert query is not None
    executor = FakeExecutor({probe: [build_result((1,))] for probe in probes})
    found = await write_notes(FakeGuard(), executor, QUESTION, query, is_empty=False)
    assert [executed.sql for executed, _ in executor.executed] == probes
    assert (len(found.sentences), found.is_doubtful) == (len(probes), bool(probes))
    query = read_query(sql, "postgres", [ORDERS])
    assert query is not None
    assert await write_notes(FakeGuard(), executor, QUESTION, query, is_empty=False) == Notes()


@pytest.mark.parametrize(
    ("condition", "listed"),
    [
        ("status = 'new'", "old, new"),
        ("id = (SELECT MAX(id) FROM orders WHERE LOWER(status) = 'odd')", "Odd | rare"),
        ("status = 'it''s'", "it's;old"),
        ("status = 'long'", f"{'long, ' * 16}long"),
        ("status = 'ol'", ""),
        ("status = 'old, new'", ""),
        ("status = 'Odd | rare' OR status LIKE '%odd%'", ""),
        ("status <> 'new' OR status IS NULL", ""),
    ],
)
async def test_a_text_that_is_part_of_lists_too(condition: str, listed: str) -> None:
    tables = [build_table("main.orders", "id integer", "status text")]
    query = read_query(f"SELECT id FROM orders WHERE {condition}", "duckdb", tables)
    assert query is not None
    with duckdb.connect() as database:
        database.execute("CREATE TABLE orders AS SELECT 1 AS id, unnest(?) AS status", [STATUSES])
        rows = {sql: database.sql(sql).fetchall() for _, sql in list_part_probes(query)}
    executor = FakeExecutor({sql: [build_result(*found)] for sql, found in rows.items()})
    found = await write_notes(FakeGuard(), executor, QUESTION, query, is_empty=False)
    assert found.is_doubtful == bool(listed)
    assert [repr(listed) in note for note in found.sentences] == [True] * bool(listed)
