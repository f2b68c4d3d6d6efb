"""Queries over HTTP, with the real guard and database: each reader's own rows."""

from __future__ import annotations

import csv
import io

import pytest

from serve_app.http.formats import XLSX
from tests.serve_app.page_service import PageService

pytestmark = pytest.mark.asyncio(loop_scope="module")

STAFF = "SELECT employee_id, department_id FROM employees ORDER BY 1"
PAY = "SELECT net_amt FROM payslips"


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
    # Its rows are those of the department's employees.
    absences = (await service.run("mia", "SELECT count(*) FROM absences")).json()
    assert absences["tables"] == ["hr.absences"]


async def test_nobody_but_the_token_says_who_asks(service: PageService) -> None:
    sent = {"X-Principal": "ada", "X-Forwarded-User": "ada", "Cookie": "token=token of ada"}
    path = "/run?principal=ada&roles=analyst"
    found = await service.send("mia", "POST", path, json={"sql": STAFF}, headers=sent)
    assert found.json()["rows"] == (await service.run("mia", STAFF)).json()["rows"]


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


async def test_rows_are_exported_in_each_format(service: PageService) -> None:
    body = {"sql": STAFF}
    for media_type, suffix in (
        (XLSX, "xlsx"),
        ("text/csv", "csv"),
    ):
        response = await service.send(
            "mia", "POST", "/run", json=body, headers={"accept": media_type}
        )
        assert response.headers["content-type"].startswith(media_type)
        disposition = f'attachment; filename="rows.{suffix}"'
        assert response.headers["content-disposition"] == disposition
    rows = list(csv.DictReader(io.StringIO(response.content.decode("utf-8-sig"), newline="")))
    assert {row["department_id"] for row in rows} == {"31"}
    refused = await service.send("mia", "POST", "/run", json=body, headers={"accept": "image/png"})
    assert refused.status_code == 406
    secret = await service.send(
        "mia", "POST", "/run", json={"sql": PAY}, headers={"accept": "text/csv"}
    )
    assert secret.status_code == 422
