"""What a client accepts is what it gets: content negotiation and exports of ``POST /query``."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

import httpx
import pytest

from nl2sql.types import ResultSet
from serve_app.http.formats import MEDIA_TYPES, choose_media_type
from tests.fakes import FakeGenerator, FakeGuard, build_candidate, build_generated, build_guarded
from tests.serve_app.served import build_app, connect

SQL = 'SELECT id, name AS "né"\nFROM customers -- 100 %'
RESULT = ResultSet(
    columns=("id", "né"),
    types=("int8", "text"),
    rows=((1, "=1+1"), (2**60, None)),
    truncated=True,
    ms=1.0,
    cut=((0, 1),),
)


async def post(
    accept: str | None,
    *,
    sql: str = SQL,
    reason: str = "",
    restricted: bool = False,
    **body: Any,
) -> httpx.Response:
    drawn = build_generated(*([build_candidate(sql)] if sql else ()))
    app = build_app(
        generator=FakeGenerator(drawn, reason=reason),
        guard=FakeGuard({sql: replace(build_guarded(sql, "sales.orders"), restricted=restricted)}),
        results={sql: [RESULT, RESULT]},
    )
    async with connect(app) as client:
        headers = {} if accept is None else {"accept": accept}
        return await client.post(
            "/query", json={"question": "Who?", "k": 1, **body}, headers=headers
        )


# -- negotiation -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("accept", "chosen"),
    [
        ("", "application/json"),
        ("*/*", "application/json"),
        ("text/*", "text/csv"),
        ("TEXT/CSV; charset=utf-8", "text/csv"),
        ("text/html, application/xhtml+xml, */*;q=0.8", "application/json"),
        ("text/*;q=0.3, text/markdown;q=0.7, application/json;q=0.5", "text/markdown"),
        ("text/csv;q=0, text/*", "text/markdown"),
        ("*/*;q=0", None),
        ("image/*, nonsense, [a-z]*/c?v", None),
        ("text/csv;q=nonsense", "text/csv"),
        ("text/csv;q=0.5, text/markdown;q=7", "text/markdown"),
    ],
)
def test_the_client_chooses_among_what_is_served(accept: str, chosen: str | None) -> None:
    assert choose_media_type(accept, MEDIA_TYPES) == chosen


async def test_what_nobody_serves_is_a_problem_that_names_what_is() -> None:
    response = await post("text/html, image/png")
    assert response.status_code == 406
    assert response.headers["content-type"] == "application/problem+json"
    assert all(media_type in response.json()["detail"] for media_type in MEDIA_TYPES)


# -- formats -----------------------------------------------------------------------------------


@pytest.mark.parametrize("media_type", MEDIA_TYPES[1:])
async def test_what_goes_with_the_rows_stands_in_headers(media_type: str) -> None:
    response = await post(media_type)
    assert response.status_code == 200
    assert response.headers["content-type"].split(";")[0] == media_type
    assert unquote(response.headers["quorumsql-sql"]) == SQL
    assert float(response.headers["quorumsql-confidence"]) == pytest.approx(0.9933, abs=1e-3)
    assert {
        name: response.headers[f"quorumsql-{name}"]
        for name in ("database", "quorum", "truncated", "cut-cells")
    } == {"database": "shop", "quorum": "false", "truncated": "true", "cut-cells": "1"}


async def test_csv() -> None:
    for spreadsheet_safe, cell in ((False, "=1+1"), (True, "'=1+1")):
        response = await post("text/csv", spreadsheet_safe=spreadsheet_safe)
        rows = list(csv.reader(io.StringIO(response.content.decode("utf-8-sig"), newline="")))
        assert rows == [["id", "né"], ["1", cell], [str(2**60), ""]]


async def test_a_query_too_long_for_a_header_is_left_out_of_it() -> None:
    sql = f"SELECT '{'ü' * 1000}'"
    response = await post("text/csv", sql=sql)
    assert "quorumsql-sql" not in response.headers
    assert response.headers["quorumsql-truncated"] == "true"


@pytest.mark.parametrize("media_type", MEDIA_TYPES[1:])
async def test_an_answer_without_rows_is_a_problem_that_names_its_outcome(media_type: str) -> None:
    refused = await post(media_type, reason="Not about this database.")
    assert refused.status_code == 422
    assert refused.headers["content-type"] == "application/problem+json"
    problem = refused.json()
    assert (problem["outcome"], problem["code"]) == ("refused", "off_topic")
    assert problem["detail"] == "Not about this database."
    failed = await post(media_type, sql="")
    assert (failed.status_code, failed.json()["outcome"]) == (422, "failed")


# -- what a restricted principal is not told ---------------------------------------------------


async def test_estimates_are_told_only_where_nothing_is_withheld() -> None:
    for restricted, expected in ((False, {"cost": 10.0, "rows": 1.0}), (True, None)):
        response = await post(None, restricted=restricted, trace=True)
        (candidate,) = response.json()["trace"]["candidates"]
        assert candidate["explain"] == expected
        assert candidate["score"]["total"] > 0
