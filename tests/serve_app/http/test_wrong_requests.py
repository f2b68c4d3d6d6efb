"""A wrong request is a problem that names its field; without a token nothing of it is told."""

from __future__ import annotations

from typing import Any

import pytest

from tests.serve_app.page_service import PageService

pytestmark = pytest.mark.asyncio(loop_scope="module")

RUN: dict[str, Any] = {"sql": "SELECT 1"}
FEEDBACK: dict[str, Any] = {"question": "How many?", "sql": "SELECT 1", "verdict": "right"}
TABLES = "/databases/demo_erp/tables"
# The route, its body, the status, and the field that is named; of an unknown id none is.
WRONG: tuple[tuple[str, str, Any, int, str], ...] = (
    ("GET", f"{TABLES}?limit=201", None, 422, "query.limit"),
    ("GET", f"{TABLES}?search=a%00b", None, 422, "search"),
    ("GET", f"{TABLES}?after=nonsense", None, 422, "after"),
    ("GET", "/conversations/invented", None, 404, ""),
    ("GET", "/conversations/no%20id", None, 422, ""),
    ("GET", "/conversations?after=x", None, 422, "after"),
    ("GET", "/conversations?search=%00", None, 422, "search"),
    ("DELETE", "/conversations/no%20id", None, 422, ""),
    ("POST", "/run", {}, 422, "sql"),
    ("POST", "/run", {"sql": ""}, 422, "sql"),
    ("POST", "/run", {"sql": "x" * 20_001}, 422, "sql"),
    ("POST", "/run", {**RUN, "max_rows": 0}, 422, "max_rows"),
    ("POST", "/run", {**RUN, "principal": "ada"}, 422, "principal"),
    ("POST", "/feedback", {**FEEDBACK, "question": ""}, 422, "question"),
    ("POST", "/feedback", {**FEEDBACK, "question": "a\0b"}, 422, "question"),
    ("POST", "/feedback", {**FEEDBACK, "sql": "x" * 4001}, 422, "sql"),
    ("POST", "/feedback", {**FEEDBACK, "verdict": "perhaps"}, 422, "verdict"),
    ("POST", "/feedback", {**FEEDBACK, "correction": "SELECT 2"}, 422, "correction"),
    ("POST", "/feedback", {**FEEDBACK, "verdict": "wrong", "correction": "\t"}, 422, "correction"),
    ("POST", "/feedback", {**FEEDBACK, "database": "nowhere"}, 404, "database"),
    ("POST", "/feedback", {**FEEDBACK, "principal": "boss"}, 422, "principal"),
)


async def test_a_wrong_request_is_a_problem_that_names_its_field(service: PageService) -> None:
    for method, path, body, status, field in WRONG:
        response = await service.send("mia", method, path, json=body)
        told = (method, path, body, response.text)
        assert response.status_code == status, told
        assert response.headers["content-type"] == "application/problem+json", told
        errors = response.json().get("errors", ())
        assert not field or field in [error["field"] for error in errors], told
        assert (await service.send("", method, path, json=body)).status_code == 401, told
