"""Which guarded queries give the same rows while the data stay."""

from __future__ import annotations

from dataclasses import replace

import pytest

from execution.allowlists import Allowlist, load_allowlist
from execution.guard.guard import PolicySettings, SqlGuard
from execution.policies.policy_file import parse_policy
from nl2sql.catalog import Catalog, Table
from nl2sql.types import GuardedQuery, Principal
from tests.execution.policies.shop import build_policy_value
from tests.fakes import SHOP, FakeCatalogs, build_table

EVENTS = build_table(
    "sales.events",
    "id integer",
    "day date",
    "at timestamp",
    "price numeric(12,2)",
    "written text",
    "status text",
)
OTHERS = (
    build_table("sales.far", "id integer", kind="foreign table"),
    build_table("sales.totals", "id integer", kind="materialized view"),
)


def build_view(name: str, definition: str) -> Table:
    view = build_table(f"sales.{name}", "id integer", kind="view")
    return replace(view, definition=definition)


VIEWS = (
    build_view("lasting", "SELECT id FROM sales.events WHERE date_part('year', day) = 2024"),
    build_view("over_it", "WITH x AS (SELECT id FROM sales.lasting) SELECT id FROM x"),
    build_view("fresh", "SELECT id FROM sales.events WHERE day = CURRENT_DATE"),
    build_view("over_fresh", "SELECT id FROM sales.fresh"),
    build_view("over_far", "SELECT id FROM sales.far"),
    build_view("over_hidden", "SELECT id FROM hidden.secrets"),
    build_view("calling", "SELECT own_function(id) AS id FROM sales.events"),
    build_view("unknown", ""),
)


def build_catalog(dialect: str) -> Catalog:
    return Catalog("shop", (EVENTS, *OTHERS, *VIEWS), search_path=("sales",), dialect=dialect)


async def judge(sql: str, dialect: str, allowlist: Allowlist | None = None) -> bool:
    lists = {"shop": allowlist} if allowlist else {}
    guard = SqlGuard(FakeCatalogs(build_catalog(dialect)), allowlists=lists)
    query = await guard.guard("shop", sql, Principal("ann"))
    assert isinstance(query, GuardedQuery), query
    return await guard.are_repeatable((query,))


EVERYWHERE = (
    "SELECT count(*) FROM events",
    "SELECT status, sum(price) AS s FROM events GROUP BY status HAVING sum(price) > 3 ORDER BY s",
    "WITH x AS (SELECT id, rank() OVER (ORDER BY price) AS r FROM events) SELECT id FROM x",
    "SELECT CASE WHEN price > 1 THEN upper(status) ELSE coalesce(written, '-') END FROM events",
    "SELECT id FROM events WHERE status LIKE 'unknown%' AND id IN (SELECT id FROM totals)",
    "SELECT CAST(price AS integer) FROM events WHERE day >= '2024-01-01'",
)
LASTING = {
    "postgres": (
        "SELECT date_trunc('month', at)::date, count(*) FROM events GROUP BY 1",
        "SELECT extract(year FROM day) FROM events WHERE day = DATE '2024-02-29'",
        "SELECT age(at, day) FROM events WHERE at > to_date('2024', 'YYYY')",
        "SELECT at::date, date(at), day - INTERVAL '1 month' FROM events",
        "SELECT (max(day) - 7)::timestamp FROM events",
        "SELECT id FROM lasting",
        "SELECT id FROM over_it",
    ),
    "sqlite": (
        "SELECT strftime('%Y', '2024-01-01'), date('2024-01-01', '+1 day') FROM events",
        "SELECT substr(day, 1, 4) FROM events GROUP BY 1",
    ),
    "duckdb": (
        'SELECT date_trunc(\'month\', "at")::date, age("at", day) FROM events',
        "SELECT written::date FROM events WHERE status = 'now'",
        "SELECT id FROM lasting",
    ),
}
CHANGING = {
    "postgres": (
        "SELECT now() FROM events",
        "SELECT id FROM events WHERE day = CURRENT_DATE",
        "SELECT CURRENT_TIMESTAMP, LOCALTIMESTAMP, CURRENT_TIME FROM events",
        "SELECT LOCALTIME FROM events",
        "SELECT age(day) FROM events",
        "SELECT id FROM events WHERE day = 'today'",
        "SELECT id FROM events WHERE day < DATE ' Yesterday '",
        "SELECT CAST('tomorrow' AS timestamptz) FROM events",
        "SELECT id FROM events WHERE at < E'n\\x6fw'",
        "SELECT written::date FROM events",
        "SELECT date(written) FROM events",
        "SELECT ('to' || 'day')::date FROM events",
        "SELECT lower(status)::timestamp FROM events",
        "SELECT (SELECT written)::date FROM events",
        "SELECT day::date FROM (SELECT written AS day FROM events) AS x",
        "SELECT id FROM far",
        "SELECT id FROM fresh",
        "SELECT id FROM over_fresh",
        "SELECT id FROM over_far",
        "SELECT id FROM over_hidden",
        "SELECT id FROM calling",
        "SELECT id FROM unknown",
    ),
    "sqlite": (
        "SELECT date('now') FROM events",
        "SELECT date() FROM events",
        "SELECT strftime('%Y') FROM events",
        "SELECT julianday('NOW') - julianday('2024-01-01') FROM events",
        "SELECT CURRENT_DATE FROM events",
        # A cell may hold the word.
        "SELECT strftime('%Y', day) FROM events",
        "SELECT timediff('2024-01-01', written) FROM events",
    ),
    "duckdb": (
        "SELECT now() FROM events",
        "SELECT today() FROM events",
        "SELECT ago(INTERVAL 1 day) FROM events",
        'SELECT age("at") FROM events',
        "SELECT get_current_timestamp() FROM events",
        "SELECT CURRENT_DATE FROM events",
        "SELECT id FROM fresh",
    ),
}


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [(dialect, sql) for dialect, texts in LASTING.items() for sql in (*EVERYWHERE, *texts)],
)
async def test_what_reads_only_the_data_is_repeatable(dialect: str, sql: str) -> None:
    assert await judge(sql, dialect)


@pytest.mark.parametrize(
    ("dialect", "sql"), [(dialect, sql) for dialect, texts in CHANGING.items() for sql in texts]
)
async def test_what_may_read_anything_else_is_not(dialect: str, sql: str) -> None:
    assert not await judge(sql, dialect)


async def test_a_function_that_a_user_allowed_is_not_known() -> None:
    base = load_allowlist("postgres")
    extended = replace(base, functions=base.functions | {"random", "own_function"})
    assert await judge("SELECT upper(status) FROM events", "postgres", extended)
    assert not await judge("SELECT random() FROM events", "postgres", extended)
    assert not await judge("SELECT own_function(id) FROM events", "postgres", extended)


async def test_the_filters_of_a_policy_belong_to_the_query() -> None:
    async def judge_filter(condition: str) -> bool:
        value = build_policy_value()
        del value["roles"]["seller"], value["hash_key_env"]
        clerk = value["roles"]["clerk"]
        clerk["row_filters"] = {**clerk.get("row_filters", {}), "sales.orders": condition}
        guard = SqlGuard(FakeCatalogs(SHOP), {"shop": PolicySettings(parse_policy(value))})
        principal = Principal("ann", ("clerk",), (("country", "DE"),))
        query = await guard.guard("shop", "SELECT count(*) FROM orders", principal)
        assert isinstance(query, GuardedQuery), query
        return await guard.are_repeatable((query,))

    assert await judge_filter("placed_at > DATE '2024-01-01'")
    assert not await judge_filter("placed_at > CURRENT_DATE")
