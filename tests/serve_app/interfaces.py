"""The whole service over a fake model, and a client of each of its interfaces.

Every interface is read into the same ``Reply``, whose cells are written as ``spell_cell`` does, so
that replies of different interfaces can be compared.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from mcp import Client
from mcp_types import CallToolResult
from starlette.types import ASGIApp

from nl2sql.protocols import Engine
from nl2sql.results.json_values import to_json_value
from nl2sql.types import Principal
from retrieval.embedding.embedder import Embedder
from serve_app.composition.local import LocalParts, open_parts
from serve_app.composition.wiring import Wiring
from serve_app.http.app import build_http_app
from serve_app.operations.indexing import index_database
from serve_app.reporting import SilentReporter
from serve_app.service.query_service import QueryService
from serve_app.service.services import Services
from serve_app.service.tools import ToolService
from serve_app.settings import Settings, parse_settings
from tests.serve_app.http.test_event_stream import read_events
from tests.serve_app.mcp.clients import connect_directly, connect_http, read_text
from tests.serve_app.served import connect

Row = tuple[str, ...]

# A reply over MCP has cells cut that are much longer.
_CELL_CHARS = 200
_DECIMAL = re.compile(r"\d+\.\d+")
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d")
_FENCE = re.compile(r"^(`{3,})sql\n(.*?)\n\1$", re.DOTALL | re.MULTILINE)
_CONFIDENCE = re.compile(r"^Confidence \d\.\d\d, with", re.MULTILINE)
_PART = re.compile(r"^(?:These are \d+ of|The) (more than )?(\d+) rows", re.MULTILINE)
_DELIMITER = re.compile(r"\|( -{3}:? \|)+")
_CELL = re.compile(r"\|((?:\\.|[^\\|])+)")
_UNIT = re.compile(r" \([A-Z]{3}\)$")
_ESCAPED = re.compile(r"\\(.)|<br>")


@dataclass(frozen=True, slots=True)
class Reply:
    """``outcome`` is an answer's, or ``error``; ``text`` is all that was received.

    ``total`` is how many rows the query has, as far as it is said; with ``more`` there are more.
    """

    outcome: str
    text: str
    columns: Row = ()
    rows: tuple[Row, ...] = ()
    total: int = 0
    more: bool = False
    sql: str = ""
    status: int = 200

    @property
    def answered(self) -> bool:
        """Whether it has the rows of a query."""
        return self.outcome == "answered"

    @property
    def is_whole(self) -> bool:
        """Whether it shows all rows."""
        return self.total == len(self.rows) and not self.more

    def shows(self, rows: Iterable[Sequence[object]]) -> bool:
        """Whether it has these rows, in any order; where it shows a part, as many of them."""
        spelled = [tuple(map(spell_cell, row)) for row in rows]
        if self.is_whole:
            return Counter(self.rows) == Counter(spelled)
        if len(spelled) != self.total and not (self.more and len(spelled) > self.total):
            return False
        wide = len(self.columns)
        return Counter(self.rows) <= Counter(row[:wide] for row in spelled)


def spell_cell(value: object) -> str:
    """A cell as text, the same for a value of a driver, of JSON and of a Markdown table.

    >>> spell_cell(12.5), spell_cell("12.50"), spell_cell(None), spell_cell(True)
    ('12.5', '12.5', 'NULL', 'true')
    """
    plain = to_json_value(value)
    if plain is None:
        return "NULL"
    if isinstance(plain, bool):
        return str(plain).lower()
    if isinstance(plain, list | dict):
        plain = json.dumps(plain, ensure_ascii=False)
    text = str(plain).encode(errors="replace").decode()
    if text.startswith(("[", "{")):
        text = _DECIMAL.sub(lambda match: f"{float(match[0]):.10g}", text)
    if _TIMESTAMP.match(text):
        try:
            moment = dt.datetime.fromisoformat(text)
            return (moment.astimezone(dt.UTC) if moment.tzinfo else moment).isoformat()[:26]
        except (ValueError, OverflowError):
            pass
    text = "".join(text.split())[:_CELL_CHARS]
    try:
        return f"{float(text):.10g}"
    except ValueError:
        return text


def read_document(document: Mapping[str, Any], text: str) -> Reply:
    """The reply in a JSON answer of ``POST /query``, ``ask`` or ``run_sql``."""
    if "rows" not in document:
        sql = str(document.get("sql", ""))
        return Reply(str(document.get("outcome", "error")), text, sql=sql)
    columns = tuple(
        column["name"] if isinstance(column, dict) else column for column in document["columns"]
    )
    rows = tuple(tuple(map(spell_cell, row)) for row in document["rows"])
    return Reply(
        str(document.get("outcome", "answered")),
        text,
        columns,
        rows,
        total=len(rows),
        more=bool(document["truncated"]),
        sql=str(document.get("sql", "")),
    )


def read_message(content: str, text: str) -> Reply:
    r"""The reply in a chat message; a heading is read without the currency that it names.

    >>> sql = "```sql\nSELECT 3\n```"
    >>> message = f"1 row.\n\n| n |\n| ---: |\n| 3 |\n\n{sql}\n\nConfidence 0.90, with a quorum."
    >>> reply = read_message(message, "")
    >>> reply.outcome, reply.columns, reply.rows, reply.sql
    ('answered', ('n',), (('3',),), 'SELECT 3')
    """
    if not _CONFIDENCE.search(content):
        return Reply("error", text)
    queries = [match[2] for match in _FENCE.finditer(content)]
    lines = content.split("\n")
    columns: Row = ()
    rows: list[Row] = []
    for at, line in enumerate(lines):
        if _DELIMITER.fullmatch(line) and at:
            columns = tuple(_UNIT.sub("", heading) for heading in _split_line(lines[at - 1]))
            for row in lines[at + 1 :]:
                if not row.startswith("|"):
                    break
                rows.append(tuple(map(spell_cell, _split_line(row))))
            break
    part = _PART.search(content)
    total = int(part[2]) if part else len(rows)
    more = bool(part and part[1])
    return Reply("answered", text, columns, tuple(rows), total, more, queries[-1])


def _split_line(line: str) -> Row:
    cells = (cell.strip() for cell in _CELL.findall(line))
    return tuple(_ESCAPED.sub(lambda match: match[1] or " ", cell) for cell in cells)


def read_stream(text: str) -> tuple[str, str]:
    """The content and the reasoning of a streamed completion, which ends as it should."""
    blocks = [line.removeprefix("data: ") for line in text.strip().split("\n\n")]
    assert blocks[-1] == "[DONE]", text
    chunks = [json.loads(block) for block in blocks[:-1]]
    deltas = [choice["delta"] for chunk in chunks for choice in chunk.get("choices", ())]
    return (
        "".join(delta.get("content") or "" for delta in deltas),
        "".join(delta.get("reasoning", "") for delta in deltas),
    )


@dataclass(frozen=True, slots=True)
class Interfaces:
    """The same services behind every interface; principals have the tokens of ``sign_in``."""

    settings: Settings
    parts: LocalParts
    services: Services
    app: ASGIApp

    def principal(self, name: str) -> Principal:
        """The principal of that name."""
        return self.settings.identity.principal(name)

    def connect_mcp(
        self, name: str, *, over_http: bool = True
    ) -> AbstractAsyncContextManager[Client]:
        """An MCP client: of ``/mcp``, or of a server for one principal, as over stdio."""
        if over_http:
            return connect_http(self.app, token=build_token(name))
        return connect_directly(self.services, principal=self.principal(name))

    async def send(self, name: str, path: str, body: Mapping[str, Any], **headers: str) -> Any:
        """The response to a POST request."""
        headers = {"Authorization": f"Bearer {build_token(name)}", **headers}
        async with connect(self.app) as client:
            return await client.post(path, json=body, headers=headers)

    async def query(self, name: str, question: str, **body: Any) -> Reply:
        """``POST /query`` with JSON."""
        response = await self.send(name, "/query", {"question": question, **body})
        document = response.json() if response.content else {}
        return replace(read_document(document, response.text), status=response.status_code)

    async def list_models(self, name: str) -> list[str]:
        """The databases that ``GET /v1/models`` lists."""
        headers = {"Authorization": f"Bearer {build_token(name)}"}
        async with connect(self.app) as client:
            response = await client.get("/v1/models", headers=headers)
        return [model["id"] for model in response.json()["data"]]

    async def stream(self, name: str, question: str, **body: Any) -> Reply:
        """``POST /query`` as events; the ``rows`` event has the rows of the ``answer``."""
        sent = {"question": question, **body}
        response = await self.send(name, "/query", sent, accept="text/event-stream")
        return read_events_reply(response.text)

    async def chat(
        self, name: str, messages: str | list[dict[str, Any]], *, stream: bool = False, **body: Any
    ) -> Reply:
        """``POST /v1/chat/completions``; a text is a single message of the user."""
        if isinstance(messages, str):
            messages = [{"role": "user", "content": messages}]
        sent = {"model": "quorumsql", "messages": messages, "stream": stream, **body}
        response = await self.send(name, "/v1/chat/completions", sent)
        status, text = response.status_code, response.text
        if status != 200:
            return Reply("error", text, status=status)
        content = (
            read_stream(text)[0] if stream else response.json()["choices"][0]["message"]["content"]
        )
        return read_message(content, text)


def read_events_reply(text: str) -> Reply:
    """The reply in the ``answer`` event, which comes last."""
    events = read_events(text)
    kind, document = events[-1]
    assert kind == "answer", text
    reply = read_document(document, text)
    shown = [data for kind, data in events if kind == "rows"]
    assert len(shown) == reply.answered, text
    for data in shown:
        assert read_document(data, text).rows == reply.rows
    return reply


async def call_tool(client: Client, tool: str, **arguments: Any) -> Reply:
    """The reply of a tool, whose text holds the same as its structured content."""
    result = await client.call_tool(tool, arguments)
    assert isinstance(result, CallToolResult)
    text = read_text(result)
    if result.is_error:
        assert result.structured_content is None
        return Reply("error", text)
    assert json.loads(text) == result.structured_content
    return read_document(result.structured_content, text)


def build_token(name: str) -> str:
    """The token of a principal."""
    return f"token of {name}"


def sign_in(
    settings: Settings, principals: Mapping[str, Mapping[str, Any]], patch: pytest.MonkeyPatch
) -> Settings:
    """The settings with these principals (roles and attributes by name), each with a token."""
    described = {}
    for name, principal in principals.items():
        variable = f"TOKEN_OF_{re.sub(r'[^A-Z]', '_', name.upper())}"
        patch.setenv(variable, build_token(name))
        described[name] = {**principal, "token_env": variable}
    identity = type(settings.identity).model_validate({"principals": described})
    return settings.model_copy(update={"identity": identity})


def configure_engines(
    folder: Path, urls: Mapping[str, str], policy: Mapping[str, Any], **sections: Any
) -> Settings:
    """A service over a database of each engine under that policy; no doubt keeps rows back.

    The tables are in PostgreSQL's schema ``main``. ``folder`` is its home, and has the policies.
    """
    databases: dict[str, dict[str, Any]] = {}
    for engine, url in urls.items():
        file = folder / f"{engine}.yaml"
        of_engine = {**policy, "database": engine}
        file.write_text(yaml.safe_dump(of_engine, allow_unicode=True), encoding="utf-8")
        databases[engine] = {"reader": {"url": url}, "policy": str(file)}
    databases["postgres"] |= {"indexer": {"url": urls["postgres"]}, "schemas": ["main"]}
    return parse_settings(
        {
            "home": str(folder),
            "databases": databases,
            "default_database": "postgres",
            "flags": {"intent_gate": False},
            "ranking": {"min_confidence": 0.0},
            **sections,
        }
    )


def describe_principal(principal: Principal) -> dict[str, Any]:
    """Roles and attributes, as settings have them."""
    attributes = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in principal.attributes
    }
    return {"roles": list(principal.roles), "attributes": attributes}


def build_interfaces(settings: Settings, parts: LocalParts) -> Interfaces:
    """All interfaces over shared parts."""
    stages = parts.build_stages(settings)
    pipeline = stages.build_pipeline(settings, parts.engine)
    queries = QueryService(settings, pipeline, {}, access=stages.directory)
    tools = ToolService(
        settings,
        queries.admission,
        guard=stages.guard,
        executor=stages.executor,
        retriever=stages.retriever,
        schemas=stages.directory,
    )
    services = Services(settings, queries, tools)
    return Interfaces(settings, parts, services, build_http_app(services))


@asynccontextmanager
async def open_interfaces(
    wiring: Wiring, engine: Engine, *, embedder: Embedder | None = None
) -> AsyncIterator[Interfaces]:
    """All interfaces over one model; with an ``embedder`` the databases are indexed first."""
    async with open_parts(wiring, SilentReporter(), engine=engine) as parts:
        if embedder is not None:
            parts = replace(parts, embedder=embedder)
            for name in wiring.settings.databases:
                await index_database(wiring, name, parts.store, embedder)
        yield build_interfaces(wiring.settings, parts)
