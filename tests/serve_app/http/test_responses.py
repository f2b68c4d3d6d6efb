"""Bodies that are rendered in parts and sent in pieces are those that one call would give."""

from __future__ import annotations

import json

from quorumsql.contract.events import RowsEvent
from serve_app.http.responses import (
    PartsResponse,
    render_json,
    render_rows,
    render_with_rows,
)
from serve_app.service.rendering import build_rows
from tests.fakes import build_result
from tests.serve_app.http.asgi import Exchange, build_scope

ROWS = tuple((at, None, "ü\ud800", {"a": [at]}, *range(80)) for at in range(3))


def test_rows_rendered_in_parts_are_the_same_json() -> None:
    result = build_result(*ROWS)
    assert render_rows(result) == render_json(build_rows(result))
    assert render_rows(build_result()) == b"[]"
    assert render_rows(build_result((), ())) == b"[[],[]]"


def test_a_model_in_parts_has_its_fields_in_their_order() -> None:
    event = RowsEvent(sql="SELECT 1", columns=[], rows=[[1], [2]], truncated=True)
    parts = render_with_rows(event, b"[[1],[2]]", exclude={"event"})
    assert b"".join(parts) == render_json(event.model_dump(exclude={"event"}))


async def test_a_large_body_arrives_whole() -> None:
    parts = (b"[", json.dumps("x" * 3_000_000).encode(), b",1]")
    response = PartsResponse(parts, "application/json", {})
    exchange = await Exchange().send_to(response, build_scope("GET", "/"))
    assert exchange.body == b"".join(parts)
    assert exchange.headers["content-length"] == str(len(exchange.body))
