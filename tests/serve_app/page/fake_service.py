"""A service for looking at the page and for its tests: real files and policy, canned answers.

``python -m tests.serve_app.page.fake_service`` serves it on 127.0.0.1:8765. It can be slow, busy,
broken in the middle of a stream, restarted, and it can want a sign-in.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import secrets
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from serve_app.http.page_files import PageFiles
from tests.serve_app.page import canned

KEY = "the-key"
COOKIE = "quorumsql_session"
Handler = Callable[[Request], Awaitable[Response]]


def problem(
    status: int, title: str, detail: str, *, retry_after: int | None = None, **members: Any
) -> Response:
    """A problem document."""
    body = {"type": "about:blank", "title": title, "status": status, "detail": detail, **members}
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    return JSONResponse(body, status, headers, media_type="application/problem+json")


class Broken(Exception):
    """Ends a stream without its end, as a lost connection does."""


@dataclass
class FakeService:
    """What the service does next; tests change the attributes."""

    pause_s: float = 0.02
    needs_sign_in: bool = False
    refuse: deque[Response] = field(default_factory=deque)
    """Responses to the next requests of questions, instead of answers."""
    break_after: int | None = None
    """Breaks the next stream after so many events."""
    answer: Callable[[str], dict[str, Any]] = canned.build_answer
    run_pause_s: float = 0.0
    person: dict[str, Any] = field(default_factory=lambda: canned.pick("person"))
    suggestions: list[str] = field(default_factory=lambda: canned.pick("suggestions"))
    table: Callable[[str], dict[str, Any]] = canned.describe_table
    received: list[tuple[str, str, Any]] = field(default_factory=list)
    """Method, path and body of the requests that are not GET."""

    def __post_init__(self) -> None:
        now = datetime.now(UTC).isoformat()
        self.conversations = canned.build_conversations(now)
        self.review = canned.build_review(now)
        self.given: dict[str, dict[str, Any]] = {}
        self.sessions: set[str] = set()

    def build_app(self) -> PageFiles:
        """The application, with the page's files in front."""

        def guarded(handler: Handler, *, is_open: bool = False) -> Handler:
            async def handle(request: Request) -> Response:
                if request.method != "GET":
                    text = await request.body()
                    self.received.append(
                        (request.method, request.url.path, json.loads(text) if text else None)
                    )
                known = request.cookies.get(COOKIE) in self.sessions
                if self.needs_sign_in and not known and not is_open:
                    return problem(401, "Not authenticated", "Sign in first.")
                response = await handler(request)
                response.headers["Cache-Control"] = "no-store"
                return response

            return handle

        def route(path: str, handler: Handler, *methods: str, is_open: bool = False) -> Route:
            return Route(path, guarded(handler, is_open=is_open), methods=list(methods or ("GET",)))

        base = "/databases/{database}"
        routes = [
            route("/healthz", self.health, is_open=True),
            route("/me", self.me),
            route("/sign-in", self.methods, is_open=True),
            route("/sign-in", self.sign_in, "POST", is_open=True),
            route("/sign-out", self.sign_out, "POST", is_open=True),
            route("/databases", self.databases),
            route(f"{base}/tables", self.tables),
            route(f"{base}/tables/{{table}}", self.one_table),
            route(f"{base}/definitions", self.definitions),
            route(f"{base}/suggestions", self.suggest),
            route("/query", self.query, "POST"),
            route("/run", self.run, "POST"),
            route("/conversations", self.list_conversations),
            route("/conversations/{id}", self.one_conversation, "GET", "DELETE"),
            route("/feedback", self.give_feedback, "POST"),
            route("/feedback", self.list_review),
            route("/feedback/{id}", self.withdraw_feedback, "DELETE"),
            route("/feedback/{id}/done", self.close_review, "POST"),
            route("/feedback/{id}/exam", self.list_exam),
            route("/feedback/{id}/trial", self.try_fix, "POST"),
        ]
        return PageFiles(Starlette(routes=routes))

    async def health(self, _: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def me(self, _: Request) -> Response:
        return JSONResponse(self.person | {"sign_in": "cookie" if self.needs_sign_in else "none"})

    async def methods(self, _: Request) -> Response:
        return JSONResponse({"needed": self.needs_sign_in, "methods": ["key", "provider"]})

    async def sign_in(self, request: Request) -> Response:
        if (await request.json())["token"] != KEY:
            return problem(401, "Not authenticated", "The token is unknown.")
        name = secrets.token_hex(8)
        self.sessions.add(name)
        response = Response(status_code=204)
        response.set_cookie(COOKIE, name, httponly=True, samesite="lax")
        return response

    async def sign_out(self, request: Request) -> Response:
        if (await request.json())["everywhere"]:
            self.sessions.clear()
        self.sessions.discard(request.cookies.get(COOKIE, ""))
        response = JSONResponse({"ended": 1})
        response.delete_cookie(COOKIE)
        return response

    async def databases(self, _: Request) -> Response:
        return JSONResponse({"databases": canned.pick("databases")})

    async def tables(self, request: Request) -> Response:
        values = request.query_params
        return JSONResponse(
            canned.list_tables(
                request.path_params["database"],
                values.get("search", ""),
                values.get("after", ""),
                int(values.get("limit", 50)),
            )
        )

    async def one_table(self, request: Request) -> Response:
        return JSONResponse(self.table(request.path_params["table"]))

    async def definitions(self, request: Request) -> Response:
        if request.path_params["database"] != canned.DATABASE:
            return JSONResponse({"measures": [], "dimensions": [], "filters": []})
        return JSONResponse(canned.pick("definitions"))

    async def suggest(self, _: Request) -> Response:
        return JSONResponse({"questions": self.suggestions})

    async def query(self, request: Request) -> Response:
        if self.refuse:
            return self.refuse.popleft()
        body = await request.json()
        answer = self.answer(body["question"])
        for given in self.given.values():
            if given["correction"] and given["question"] == body["question"]:
                answer = canned.build_verified(body["question"], given["correction"])
        if body.get("chosen_sql"):
            answer = canned.build_answer("Which product line earned most?") | {
                "question": body["question"],
                "confidence": 1.0,
                "sql": body["chosen_sql"],
            }
        answer = answer | {"session": body.get("session")}
        if not body.get("trace"):
            answer = answer | {"trace": None}
        limit, self.break_after = self.break_after, None
        return StreamingResponse(self._send(answer, limit), media_type="text/event-stream")

    def _keep(self, answer: dict[str, Any]) -> None:
        """Adds the question to the history, in its conversation."""
        known = next((one for one in self.conversations if one["id"] == answer["session"]), None)
        if known is None:
            known = canned.build_conversation(
                answer["session"], answer["question"], datetime.now(UTC).isoformat(), []
            )
        else:
            self.conversations.remove(known)
        self.conversations.insert(0, known)
        known["questions"] += 1

    async def _send(self, answer: dict[str, Any], limit: int | None) -> AsyncIterator[bytes]:
        for sent, (kind, data) in enumerate(canned.list_events(answer)):
            if limit is not None and sent >= limit:
                raise Broken
            yield f"event: {kind}\ndata: {json.dumps(data)}\n\n".encode()
            await asyncio.sleep(self.pause_s)
        self._keep(answer)
        yield f"event: answer\ndata: {json.dumps(answer)}\n\n".encode()

    async def run(self, request: Request) -> Response:
        await asyncio.sleep(self.run_pause_s)
        body = await request.json()
        accept = request.headers.get("accept", "")
        answer = self.answer("all orders" if body.get("max_rows", 0) > 5000 else "product line")
        if "csv" in accept or "spreadsheetml" in accept:
            return Response(
                b"product_line,earned\r\nTrekking bikes,1284310.50\r\n", media_type=accept
            )
        rows = answer["rows"][: body.get("max_rows", 100)]
        return JSONResponse(
            {
                "database": canned.DATABASE,
                "sql": body.get("sql", ""),
                "columns": answer["columns"],
                "rows": rows,
                "truncated": len(rows) < len(answer["rows"]),
                "cut": [],
                "ms": 12.4,
                "predicates": ["sales.orders: region_id IN (3, 4)"],
                "tables": ["sales.orders"],
                "description": answer["description"],
            }
        )

    async def list_conversations(self, request: Request) -> Response:
        search = request.query_params.get("search", "").lower()
        found = [one for one in self.conversations if search in one["title"].lower()]
        return JSONResponse(
            {
                "conversations": [{k: v for k, v in one.items() if k != "turns"} for one in found],
                "next": None,
            }
        )

    async def one_conversation(self, request: Request) -> Response:
        found = next(
            (one for one in self.conversations if one["id"] == request.path_params["id"]), None
        )
        if found is None:
            return problem(404, "Not found", "There is no such conversation.")
        if request.method == "DELETE":
            self.conversations.remove(found)
            return JSONResponse({"conversations": 1, "questions": found["questions"]})
        return JSONResponse(found)

    async def give_feedback(self, request: Request) -> Response:
        body = await request.json()
        outcome = "stored" if body["verdict"] == "right" or body["correction"] else "recorded"
        id_ = f"f{len(self.given)}"
        self.given[id_] = body
        if body["correction"]:
            self._mark_corrected(body, state="done", by=self.person["name"])
        return JSONResponse(
            {
                "outcome": outcome,
                "example": "x1",
                "id": id_,
                "parameters": canned.pick("parameters") if outcome == "stored" else [],
                "withheld": canned.pick("withheld") if outcome == "stored" else [],
                "marked": "SELECT 1 FROM orders WHERE year = :year AND status <> :status",
            },
            200 if outcome == "stored" else 202,
        )

    def _mark_corrected(self, body: dict[str, Any], *, state: str, by: str) -> None:
        """Changes what is to be reviewed of this answer."""
        for one in self.review:
            if (one["question"], one["sql"]) == (body["question"], body["sql"]):
                own = one["given_by"] if one["correction"] else ""
                one.update(state=state, reviewed_by=by, corrected_by=by or own)

    async def withdraw_feedback(self, request: Request) -> Response:
        id_ = request.path_params["id"]
        body = self.given.pop(id_, None)
        if reviewed := [one for one in self.review if one["id"] == id_]:
            self.review.remove(reviewed[0])
            return Response(status_code=204)
        if body is None:
            return problem(404, "Not found", "There is no such feedback.")
        self._mark_corrected(body, state="open", by="")
        return Response(status_code=204)

    async def list_review(self, request: Request) -> Response:
        state = request.query_params.get("state", "open")
        is_right = request.query_params.get("verdict") == "right"
        found = [one for one in self.review if (one["kind"] == "right") == is_right]
        return JSONResponse(
            {"entries": [one for one in found if one["state"] == state], "next": None}
        )

    async def list_exam(self, _: Request) -> Response:
        questions = [
            {"id": f"x{number}", "question": f"Question {number}", "sql": "SELECT 1"}
            for number in range(3)
        ]
        return JSONResponse({"questions": questions, "total": 3})

    async def try_fix(self, request: Request) -> Response:
        """A definition loses a question of the exam, the right query none."""
        await asyncio.sleep(self.pause_s)
        body = await request.json()
        is_lost = body["example"] == "x1" and "name" in body
        if "LIMIT 3" in body.get("sql", ""):
            return problem(422, "Not an example", "It cannot become an example.")
        written = f"filters:\n  {body.get('name')}: {body.get('expression')}\n"
        return JSONResponse(
            {
                "question": f"Question {body['example'][1:]}",
                "verdict": "lost" if is_lost else "right",
                "sql": "SELECT 2 FROM sales.orders",
                "reason": "",
                "example_shown": body["example"] == "x1" and "sql" in body,
                "definition": written if "name" in body else "",
                "keep": "Add these lines to `semantics.yaml`. `quorumsql doctor shop` checks it.",
            }
        )

    async def close_review(self, request: Request) -> Response:
        for one in self.review:
            if one["id"] == request.path_params["id"]:
                one.update(state="done", reviewed_by=self.person["name"])
        return Response(status_code=204)


def main() -> None:
    """Serves the fake service."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8765)
    parser.add_argument("--pause", type=float, default=0.35, help="seconds between events")
    parser.add_argument("--sign-in", action="store_true", help=f"want a sign-in; the key: {KEY}")
    options = parser.parse_args()
    service = FakeService(pause_s=options.pause, needs_sign_in=options.sign_in)
    uvicorn.run(service.build_app(), host="127.0.0.1", port=options.port, log_level="warning")


if __name__ == "__main__":
    main()
