"""Each field of each route at the bounds of its type, and past them: no error of the service's.

The routes and fields are those of the published OpenAPI, over the whole service. All other fields
of a request are valid, so that it gets as far as the field is read.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from serve_app.composition.wiring import Wiring
from tests.serve_app.http.asgi import HOST, JSON, Exchange, build_scope
from tests.serve_app.interfaces import build_token
from tests.serve_app.page_service import PageService, open_page_service

# As JSON: Python writes no number of more than 4,300 digits.
VALUES = (
    *("0", "-1", "1", "2147483647", "2147483648", "-2147483649", "9223372036854775807"),
    *("9223372036854775808", "-9223372036854775809", "1" + "0" * 400, "9" * 5000),
    *("0.5", "1e400", "NaN", "null", "true", "[]", "{}", '[""]', "[null]", "[[]]", '[{"":0}]'),
    *('""', '" "', '"\\u0000"', '"\\ud800"', '"a\\u2028b"', '"%"', '"0"', '"-1"', '"new"'),
    json.dumps("9" * 5000),
    json.dumps("x" * 30_000),
    json.dumps(["x"] * 300),
)
# As texts of a path, a query or a header.
TEXTS = (
    *("0", "-1", "2147483648", "9223372036854775808", "1e400", "nan", "", " ", "%", "é", "a/b"),
    *("9" * 4301, "٣" * 30, "x" * 9000, "new", "true"),
)
# What no request of this principal can do.
REFUSED = {
    ("POST", "/sign-in"),
    ("GET", "/sign-in/provider"),
    ("GET", "/sign-in/callback"),
    ("DELETE", "/feedback/{id}"),
    ("POST", "/feedback/{id}/done"),
}
COUNT = "SELECT count(*) FROM employees"
KNOWN: dict[str, Any] = {
    "question": COUNT,
    "sql": COUNT,
    "database": "demo_erp",
    "model": "demo_erp",
    "messages": [{"role": "user", "content": COUNT}],
    "verdict": "right",
    "token": "a wrong one",
    "table": "hr.employees",
}


@dataclass(frozen=True)
class Request:
    """One request; the body is JSON with the field under test."""

    method: str
    path: str
    query: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None


@dataclass(frozen=True)
class Route:
    """A route as OpenAPI describes it."""

    method: str
    path: str
    description: dict[str, Any]
    schemas: dict[str, Any]

    def list_requests(self, names: dict[str, str]) -> Iterator[Request]:
        """A valid request first, then each field with each value; ``names`` fill the path."""
        parameters = self.description.get("parameters", [])
        in_path = {
            each["name"]: names.get(each["name"], KNOWN.get(each["name"], "none"))
            for each in parameters
            if each["in"] == "path"
        }
        query = {
            each["name"]: str(KNOWN.get(each["name"], "x"))
            for each in parameters
            if each["in"] == "query" and each["required"]
        }
        content = self.description.get("requestBody", {}).get("content", {})
        schema = content.get("application/json", {}).get("schema", {})
        reference = schema.get("$ref", "").rpartition("/")[2]
        fields = self.schemas.get(reference, {})
        body = {name: KNOWN.get(name, "x") for name in fields.get("required", ())}
        if "sql" in fields.get("properties", ()):
            body["sql"] = COUNT
        valid = json.dumps(body).encode() if reference else None

        def fill(**changed: str) -> str:
            path = self.path
            for name, value in {**in_path, **changed}.items():
                path = path.replace(f"{{{name}}}", quote(value, safe=""))
            return path

        yield Request(self.method, fill(), query, {}, valid)
        for each in parameters:
            name = each["name"]
            for text in TEXTS:
                if each["in"] == "path":
                    yield Request(self.method, fill(**{name: text}), query, {}, valid)
                elif each["in"] == "query":
                    yield Request(self.method, fill(), {**query, name: text}, {}, valid)
                elif each["in"] == "header":
                    yield Request(self.method, fill(), query, {name: text}, valid)
        for name in fields.get("properties", ()):
            for value in VALUES:
                text = json.dumps({**body, name: "@"}).replace('"@"', value)
                yield Request(self.method, fill(), query, {}, text.encode())
        if reference == "ChatRequest":
            for value in VALUES:
                for inner in ("role", "content"):
                    message = json.dumps({**KNOWN["messages"][0], inner: "@"})
                    text = json.dumps({**body, "messages": ["@"]}).replace('"@"', message)
                    yield Request(self.method, fill(), body=text.replace('"@"', value).encode())


def list_routes(document: dict[str, Any]) -> list[Route]:
    schemas = document["components"]["schemas"]
    return [
        Route(method.upper(), path, described, schemas)
        for path, methods in document["paths"].items()
        for method, described in methods.items()
    ]


@pytest.fixture
async def service(
    wiring: Wiring, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> AsyncIterator[PageService]:
    async with open_page_service(wiring, monkeypatch, tmp_path) as opened:
        yield opened


async def send(service: PageService, request: Request) -> Exchange:
    pairs = "&".join(f"{name}={quote(value)}" for name, value in request.query.items())
    headers = [
        HOST,
        *([JSON] if request.body is not None else []),
        (b"authorization", f"Bearer {build_token('ada')}".encode()),
        *((name.lower().encode(), text.encode()) for name, text in request.headers.items()),
    ]
    scope = build_scope(request.method, f"{request.path}?{pairs}", headers)
    return await Exchange([request.body or b""]).send_to(service.app, scope)


async def test_no_field_is_an_error_of_the_service(service: PageService) -> None:
    document = (await service.send("ada", "GET", "/openapi.json")).json()
    sent, wrong = 0, []
    for route in list_routes(document):
        # Anew for each: some routes delete them.
        asked = await service.send(
            "ada", "POST", "/query", json={"question": COUNT, "session": "s"}
        )
        shared = await service.send("ada", "POST", "/shares", json={"question": "Q?", "sql": COUNT})
        followed = asked.headers["quorumsql-query-id"]
        names = {"name": "demo_erp" if "models" in route.path else followed, "session": "s"}
        names["id"] = "s" if "conversations" in route.path else shared.json()["id"]
        for at, request in enumerate(route.list_requests(names)):
            exchange = await send(service, request)
            sent += 1
            # The valid request must be one, or the fields of the others are never read.
            most = 400 if at == 0 and (route.method, route.path) not in REFUSED else 500
            if exchange.status >= most:
                wrong.append(f"{exchange.status} {str(request)[:400]} {exchange.body[:300]!r}")
    assert not wrong, "\n".join(wrong[:20])
    assert sent > 1500
