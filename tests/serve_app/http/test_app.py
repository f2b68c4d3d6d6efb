"""The HTTP interface over a pipeline of fakes: bodies, problems, readiness."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from nl2sql.errors import DatabaseUnavailable, EngineUnavailable
from nl2sql.types import Generated
from tests.fakes import (
    FakeGenerator,
    build_generated,
    build_result,
    build_settings,
)
from tests.serve_app.served import build_app, connect


class FakeProbe:
    """Reports the pairs it was given."""

    def __init__(self, *pairs: tuple[str, str]) -> None:
        self._pairs = pairs

    async def probe(self) -> tuple[tuple[str, str], ...]:
        return self._pairs


def build_client(
    *answers: Generated | Exception, reason: str = "", probe: FakeProbe | None = None
) -> httpx.AsyncClient:
    app = build_app(
        generator=FakeGenerator(*answers, reason=reason),
        results={"SELECT 1": [build_result((1,))]},
        probe=probe,
    )
    return connect(app)


async def post(body: Any, *answers: Generated | Exception, **options: Any) -> httpx.Response:
    async with build_client(*answers, **options) as client:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return await client.post(
            "/query", content=content, headers={"content-type": "application/json"}
        )


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        pytest.param({}, 422, "question", id="no question"),
        pytest.param({"question": "  \n "}, 422, "question", id="blank question"),
        pytest.param({"question": "x" * 5000}, 422, "question", id="long question"),
        pytest.param({"question": "x" * 2_000_000}, 413, "body", id="2 MB question"),
        pytest.param({"question": "q", "database": "no"}, 404, "database", id="unknown database"),
        pytest.param({"question": "q", "k": 0}, 422, "k", id="k is 0"),
        pytest.param({"question": "q", "k": True}, 422, "k", id="k is a boolean"),
        pytest.param({"question": "q", "max_rows": 0}, 422, "max_rows", id="max_rows is 0"),
        pytest.param({"question": "q", "max_rows": 10**6}, 422, "max_rows", id="too many rows"),
        pytest.param({"question": "q", "sql": "x"}, 422, "sql", id="unknown key"),
        *(
            ({"question": "q", "session": value}, 422, "session")
            for value in ("", "a b", "x" * 65, "ü", "a/b", "s\n")
        ),
        *(
            ({"question": "q", "answer_text": value}, 422, "answer_text")
            for value in ("loud", True)
        ),
        pytest.param(["q"], 422, "body", id="body is a list"),
        pytest.param(b'{"question": ', 422, "body", id="body is no JSON"),
    ],
)
async def test_bad_input_is_a_problem_that_names_the_field(
    body: Any, status: int, field: str
) -> None:
    response = await post(body)
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert problem["status"] == status
    assert field in [error["field"] for error in problem["errors"]]
    assert "Traceback" not in response.text


async def test_a_body_without_its_type_is_told_the_header() -> None:
    async with build_client() as client:
        response = await client.post("/query", content=b'{"question": "q"}')
    assert "the header content-type: application/json" in response.json()["detail"]


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (DatabaseUnavailable("The database is away.", database="shop"), 503),
        (EngineUnavailable("The engine is away."), 503),
        (RuntimeError("secret detail"), 500),
    ],
    ids=["database", "engine", "bug"],
)
async def test_what_breaks_is_a_problem_without_traceback(error: Exception, status: int) -> None:
    response = await post({"question": "How many orders?"}, error)
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    assert "Traceback" not in response.text
    assert "secret" not in response.text
    assert ("retry-after" in response.headers) == (status == 503)


async def test_the_methods_of_a_path_are_named_for_another_one() -> None:
    async with build_client() as client:
        for method, path, allowed in (("TRACE", "/query", "POST"), ("PUT", "/v1/models", "GET")):
            response = await client.request(method, path)
            assert (response.status_code, response.headers["allow"]) == (405, allowed)
            assert "see /docs" in response.text
        assert "see /docs" in (await client.get("/nowhere")).json()["detail"]


async def test_what_a_route_answers_is_described_and_nothing_else() -> None:
    async with build_client() as client:
        paths = (await client.get("/openapi.json")).json()["paths"]
    for path, operations in paths.items():
        for method, operation in operations.items():
            described = operation["responses"].keys()
            assert ("413" in described) == ("requestBody" in operation), f"{method} {path}"
            assert ("406" in described) == (path in ("/query", "/run")), f"{method} {path}"
            assert "422" not in described or not path.startswith("/v1/")
            statuses = set()
            if path in ("/query", "/translate", "/run", "/v1/chat/completions"):
                statuses |= {"401", "404", "429", "503", "504"}
            assert statuses <= described, f"{method} {path}"
    assert paths["/healthz"]["get"]["responses"].keys() == {"200"}
    assert paths["/readyz"]["get"]["responses"].keys() == {"200", "503"}


async def test_an_answer_names_its_outcome_and_hides_the_trace_unless_asked() -> None:
    question = {"question": "How many orders?"}
    refused = await post(question, reason="Not about this database.")
    assert refused.json() == {
        "outcome": "refused",
        "question": "How many orders?",
        "database": "shop",
        "code": "off_topic",
        "reason": "Not about this database.",
        "suggestions": [],
        "session": None,
        "rewritten": None,
        "notes": [],
        "trace": None,
    }
    failed = await post({**question, "trace": True}, build_generated())
    assert failed.json()["outcome"] == "failed"
    stages = [stage["stage"] for stage in failed.json()["trace"]["stages"]]
    assert stages[:4] == ["retrieve", "gate", "plan", "generate"]


DATABASES = {name: {"reader": {"url": "embedded"}} for name in ("shop", "crm", "wiki")}


@pytest.mark.parametrize(
    ("problems", "ready"),
    [
        pytest.param({}, True, id="all is well"),
        pytest.param({"database crm": "gone"}, True, id="one database is away"),
        pytest.param({"database crm": "gone", "policy wiki": "misfit"}, True, id="one is left"),
        pytest.param(
            {"database shop": "gone", "database crm": "gone", "policy wiki": "misfit"},
            False,
            id="none is left",
        ),
        pytest.param({"index": "gone"}, False, id="what every question needs"),
    ],
)
async def test_it_is_ready_while_a_question_can_be_answered(
    problems: dict[str, str], ready: bool
) -> None:
    parts = ("index", "engine", *(f"database {name}" for name in DATABASES), "policy wiki")
    told = tuple((part, problems.get(part, "")) for part in parts)
    app = build_app(build_settings(databases=DATABASES), probe=FakeProbe(*told))
    async with connect(app) as client:
        response = await client.get("/readyz")
    assert (response.status_code, response.json()["ready"]) == (200 if ready else 503, ready)
    assert ("retry-after" in response.headers) is not ready
    assert response.json()["parts"] == {part: problem or "ok" for part, problem in told}
