"""Queries and shares over HTTP, with the real guard and database: each reader's own rows."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from serve_app.composition.wiring import Wiring
from tests.serve_app.page_service import PageService, open_page_service

STAFF = "SELECT employee_id, department_id FROM employees ORDER BY 1"
PAY = "SELECT net_amt FROM payslips"


@pytest.fixture
async def service(
    wiring: Wiring, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> AsyncIterator[PageService]:
    async with open_page_service(wiring, monkeypatch, tmp_path) as opened:
        yield opened


async def share(service: PageService, name: str, sql: str = STAFF, **body: Any) -> str:
    sent = {"question": "Who works where?", "sql": sql, **body}
    response = await service.send(name, "POST", "/shares", json=sent)
    assert response.status_code == 200, response.text
    id_: str = response.json()["id"]
    return id_


# -- run -------------------------------------------------------------------------------------------


async def test_a_query_gives_ones_own_rows_and_says_what_the_policy_added(
    service: PageService,
) -> None:
    bodies = {name: (await service.run(name, STAFF)).json() for name in ("ada", "mia", "noa")}
    assert {row[1] for row in bodies["mia"]["rows"]} == {31}
    assert {row[1] for row in bodies["noa"]["rows"]} == {7}
    assert len(bodies["ada"]["rows"]) > len(bodies["mia"]["rows"])
    mia = bodies["mia"]
    assert (mia["database"], mia["sql"], mia["tables"]) == ("demo_erp", STAFF, ["hr.employees"])
    assert [column["name"] for column in mia["columns"]] == ["employee_id", "department_id"]
    assert "department_id" in " ".join(mia["predicates"])
    assert bodies["ada"]["predicates"] == []
    assert (mia["truncated"], mia["cut"]) == (False, [])
    assert mia["ms"] > 0


async def test_a_few_rows_are_a_preview(service: PageService) -> None:
    body = (await service.run("ada", STAFF, max_rows=3)).json()
    assert len(body["rows"]) == 3
    assert body["truncated"]


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        (PAY, "not_permitted"),
        ("SELECT 1 FROM invented", "unknown_table"),
        ("DELETE FROM employees", "not_a_query"),
        ("SELECT 1; SELECT 2", "multiple_statements"),
        ("SELECT 1 / (employee_id - employee_id) FROM employees", "22012"),
    ],
)
async def test_a_query_that_gives_no_rows_says_why(
    service: PageService, sql: str, code: str
) -> None:
    response = await service.run("mia", sql)
    assert response.status_code == 422
    problem = response.json()
    assert response.headers["content-type"] == "application/problem+json"
    assert problem["title"] == ("Query failed" if code == "22012" else "Query refused")
    assert problem["detail"]
    assert problem["code"] == code


async def test_no_rows_is_an_answer(service: PageService) -> None:
    response = await service.run("mia", "SELECT employee_id FROM employees WHERE department_id = 7")
    assert (response.status_code, response.json()["rows"]) == (200, [])


async def test_rows_are_exported_in_each_format(service: PageService, tmp_path: Path) -> None:
    body = {"sql": STAFF}
    for media_type, suffix in (
        ("text/csv", "csv"),
        ("application/x-ndjson", "jsonl"),
        ("application/vnd.apache.parquet", "parquet"),
    ):
        response = await service.send(
            "mia", "POST", "/run", json=body, headers={"accept": media_type}
        )
        assert response.headers["content-type"].startswith(media_type)
        disposition = f'attachment; filename="rows.{suffix}"'
        assert response.headers["content-disposition"] == disposition
    (tmp_path / "rows.parquet").write_bytes(response.content)
    departments = pq.read_table(tmp_path / "rows.parquet").column("department_id").to_pylist()
    assert set(departments) == {31}
    refused = await service.send("mia", "POST", "/run", json=body, headers={"accept": "image/png"})
    assert refused.status_code == 406
    secret = await service.send(
        "mia", "POST", "/run", json={"sql": PAY}, headers={"accept": "text/csv"}
    )
    assert secret.status_code == 422


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"sql": ""}, "sql"),
        ({}, "sql"),
        ({"sql": "x" * 20_001}, "sql"),
        ({"sql": "SELECT 1", "max_rows": 0}, "max_rows"),
        ({"sql": "SELECT 1", "share": "x"}, "share"),
        ({"sql": "SELECT 1", "principal": "ada"}, "principal"),
    ],
)
async def test_a_wrong_request_is_named(
    service: PageService, body: dict[str, Any], field: str
) -> None:
    response = await service.send("mia", "POST", "/run", json=body)
    assert response.status_code == 422
    assert response.json()["errors"][0]["field"] == field


async def test_queries_are_counted_and_recorded_like_questions(service: PageService) -> None:
    rows = (await service.run("mia", STAFF)).json()["rows"]
    await service.run("mia", PAY)
    ran, refused = service.read_audit()
    assert (ran["principal"], ran["outcome"], ran["row_count"]) == ("mia", "answered", len(rows))
    assert ran["predicates"]
    assert (refused["outcome"], refused["code"], refused["executed"]) == (
        "refused",
        "not_permitted",
        [],
    )


# -- format ----------------------------------------------------------------------------------------


async def test_a_query_is_formatted_as_written(service: PageService) -> None:
    sql = "select date_part('year', now()) from employees -- all\nwhere salary > 1"
    response = await service.send("mia", "POST", "/format", json={"sql": sql})
    formatted = response.json()["sql"]
    assert formatted.splitlines()[0] == "SELECT"
    assert "DATE_PART('year', NOW())" in formatted
    assert "all" in formatted
    again = await service.send("mia", "POST", "/format", json={"sql": formatted})
    assert again.json()["sql"] == formatted


@pytest.mark.parametrize("sql", ["", "SELECT FROM WHERE (", "(" * 500, "SELECT '"])
async def test_what_cannot_be_read_is_not_formatted(service: PageService, sql: str) -> None:
    response = await service.send("mia", "POST", "/format", json={"sql": sql})
    assert response.status_code == 422
    assert response.json()["errors"][0]["field"] == "sql"


# -- shares ----------------------------------------------------------------------------------------


async def test_a_share_shows_each_reader_their_own_rows(service: PageService) -> None:
    id_ = await share(service, "ada")
    for name, departments in (("mia", {31}), ("noa", {7})):
        shown = await service.get(name, f"/shares/{id_}")
        assert (shown["question"], shown["sql"]) == ("Who works where?", STAFF)
        assert (shown["database"], shown["shared_by"]) == ("demo_erp", "ada")
        response = await service.run(name, shown["sql"], database=shown["database"])
        assert {row[1] for row in response.json()["rows"]} == departments


async def test_a_reader_whom_the_guard_refuses_sees_nothing_of_a_share(
    service: PageService,
) -> None:
    id_ = await share(service, "ada", PAY, question="What does Zacharias earn?")
    for name in ("mia", "eve"):
        response = await service.send(name, "GET", f"/shares/{id_}")
        assert (response.status_code, response.json()["code"]) == (403, "not_permitted")
        for secret in ("payslips", "net_amt", "Zacharias", "ada"):
            assert secret not in response.text


async def test_a_share_of_a_database_that_may_not_be_asked_does_not_exist(
    service: PageService,
) -> None:
    id_ = await share(service, "ada")
    said = [
        await service.send("zoe", "GET", f"/shares/{name}") for name in (id_, "invented", "a%00b")
    ]
    assert {response.status_code for response in said} == {404}
    assert len({response.text for response in said}) == 1


async def test_only_what_one_may_run_is_shared(service: PageService) -> None:
    for sql in (PAY, "DELETE FROM employees"):
        body = {"question": "What?", "sql": sql}
        response = await service.send("mia", "POST", "/shares", json=body)
        assert response.status_code == 422
        assert response.json()["errors"][0]["field"] == "sql"
    async with service.store.connection() as connection:
        cursor = await connection.execute("SELECT count(*) FROM quorumsql.shares")
        assert await cursor.fetchone() == (0,)


async def test_a_share_is_ended_by_its_owner_alone(service: PageService) -> None:
    id_ = await share(service, "mia")
    for name in ("noa", "ada", "cleo"):
        assert (await service.send(name, "DELETE", f"/shares/{id_}")).status_code == 404
    assert (await service.get("noa", f"/shares/{id_}"))["shared_by"] == "mia"
    assert (await service.send("mia", "DELETE", f"/shares/{id_}")).status_code == 204
    assert (await service.send("noa", "GET", f"/shares/{id_}")).status_code == 404
    assert (await service.send("mia", "DELETE", f"/shares/{id_}")).status_code == 404


async def test_ones_own_shares_are_listed_with_their_end(service: PageService) -> None:
    first = await share(service, "mia")
    second = await share(service, "mia", question="And this?")
    await share(service, "noa")
    page = await service.get("mia", "/shares", limit=1)
    (entry,) = page["shares"]
    assert (entry["id"], entry["question"], entry["database"]) == (second, "And this?", "demo_erp")
    shared, ends = (datetime.fromisoformat(entry[name]) for name in ("shared_at", "ends_at"))
    assert (ends - shared).days == 90
    assert "sql" not in entry
    page = await service.get("mia", "/shares", limit=1, after=page["next"])
    assert ([each["id"] for each in page["shares"]], page["next"]) == ([first], None)
    assert (await service.get("ada", "/shares")) == {"shares": [], "next": None}
    await service.send("mia", "DELETE", f"/shares/{first}")
    assert len((await service.get("mia", "/shares"))["shares"]) == 1
    assert (await service.send("mia", "GET", "/shares?after=x")).status_code == 422
    assert (await service.send("", "GET", "/shares")).status_code == 401


async def test_a_share_that_may_not_be_run_any_more_is_listed_without_its_question(
    service: PageService,
) -> None:
    id_ = await share(service, "mia", question="What is net_amt?")
    for change in (f"sql = '{PAY}'", "database = 'gone'"):
        async with service.store.connection() as connection:
            await connection.execute(f"UPDATE quorumsql.shares SET {change}".encode())
        (entry,) = (await service.get("mia", "/shares"))["shares"]
        assert (entry["id"], entry["question"], entry["is_withheld"]) == (id_, "", True)
    assert (await service.send("mia", "DELETE", f"/shares/{id_}")).status_code == 204


async def test_an_old_share_has_ended(service: PageService) -> None:
    id_ = await share(service, "mia")
    async with service.store.connection() as connection:
        await connection.execute(
            "UPDATE quorumsql.shares SET shared_at = now() - interval '91 days'"
        )
    assert (await service.send("noa", "GET", f"/shares/{id_}")).status_code == 404
    assert (await service.get("mia", "/shares"))["shares"] == []


async def test_opening_a_share_is_recorded(service: PageService) -> None:
    id_ = await share(service, "ada", PAY)
    await service.send("mia", "GET", f"/shares/{id_}")
    entry = service.read_audit()[-1]
    assert (entry["principal"], entry["question"]) == ("mia", f"open_share: {id_}")
    assert (entry["outcome"], entry["code"]) == ("refused", "not_permitted")
