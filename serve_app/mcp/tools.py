"""The tools: their descriptions for language models, and what each does with its arguments."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from mcp.server.context import ServerRequestContext
from mcp_types import CallToolResult, TextContent, Tool, ToolAnnotations

from execution.results.exports import escape_markdown
from nl2sql.answers import Answer, Answered
from nl2sql.concurrency import running
from nl2sql.sql.threads import run_in_results_thread
from nl2sql.types import Principal, Progress
from quorumsql.contract import QueryRequest
from serve_app.mcp.arguments import (
    ROWS,
    AskArguments,
    DescribeTablesArguments,
    NoArguments,
    RunSqlArguments,
    SearchSchemaArguments,
    TranslateArguments,
)
from serve_app.mcp.documents import (
    Document,
    build_answer,
    build_context,
    build_result,
    build_tables,
    write_json,
)
from serve_app.service.progress_queue import ProgressQueue
from serve_app.service.services import Services
from serve_app.service.stage_words import describe_stage
from serve_app.service.tools import find_refusal

_SILENCE_S = 5.0
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool: who calls, and in which connection."""

    services: Services
    principal: Principal
    context: ServerRequestContext[Any, Any]


async def ask(call: ToolCall, arguments: AskArguments) -> CallToolResult:
    """Answers a question; of several interpretations, ``chosen_sql`` is the one that was chosen."""
    answer = await _observe(
        call,
        arguments,
        max_rows=_limit_rows(call, arguments),
        chosen_sql=arguments.chosen_sql,
        session=arguments.session or None,
    )
    return await _render(build_answer, answer)


async def translate(call: ToolCall, arguments: TranslateArguments) -> CallToolResult:
    """The query for a question, without its rows."""
    answer = await _observe(call, arguments, max_rows=1, answer_text="off")
    document = await run_in_results_thread(build_answer, answer)
    for part in (document, *document.get("interpretations", ())):
        for key in ("columns", "rows", "truncated"):
            part.pop(key, None)
    if document["outcome"] == "answered":
        document.pop("notes", None)
    return render_document(document)


async def run_sql(call: ToolCall, arguments: RunSqlArguments) -> CallToolResult:
    """The rows of a query."""
    answer = await call.services.tools.run(
        arguments.database or None, arguments.sql, call.principal, _limit_rows(call, arguments)
    )
    if not isinstance(answer, Answered):
        code, reason = find_refusal(answer)
        return render_error(reason, told=f"The query was not run ({code}): ")
    return await _render(build_result, answer.result)


async def list_databases(call: ToolCall, arguments: NoArguments) -> CallToolResult:
    """The databases that the principal may ask."""
    settings = call.services.settings
    names = await call.services.queries.list_databases(call.principal)
    known = settings.by_name
    databases = [
        {"name": name, "dialect": known[name].dialect, "description": known[name].description}
        for name in names
    ]
    return render_document({"databases": databases, "default": settings.choose_default(names)})


async def describe_tables(call: ToolCall, arguments: DescribeTablesArguments) -> CallToolResult:
    """The columns and keys of some tables, or the names of all."""
    found = await call.services.tools.describe_tables(
        arguments.database or None, arguments.tables, call.principal
    )
    document = await run_in_results_thread(build_tables, found, whole=bool(arguments.tables))
    if arguments.tables and not found.tables:
        return render_error(" ".join(document["notes"]))
    return render_document(document)


async def search_schema(call: ToolCall, arguments: SearchSchemaArguments) -> CallToolResult:
    """The tables that match a text."""
    found = await call.services.tools.search_schema(
        arguments.database or None, arguments.text, call.principal
    )
    return await _render(build_context, found)


async def _render(build: Callable[[_T], Document], found: _T) -> CallToolResult:
    """The document of what was found, built beside the event loop."""
    return await run_in_results_thread(lambda: render_document(build(found)))


def render_document(document: Document) -> CallToolResult:
    """A result with the document as text and as structured content."""
    text = write_json(document)
    return CallToolResult(content=[TextContent(text=text)], structured_content=json.loads(text))


def render_error(reason: str, *, told: str = "") -> CallToolResult:
    """An error that the language model reads and can react to; ``told`` is a text of our own."""
    text = told + escape_markdown(reason).encode(errors="replace").decode()
    return CallToolResult(content=[TextContent(text=text)], is_error=True)


def _limit_rows(call: ToolCall, arguments: AskArguments | RunSqlArguments) -> int:
    if "max_rows" in arguments.model_fields_set:
        return arguments.max_rows
    return min(ROWS, call.services.settings.limits.max_rows)


async def _observe(call: ToolCall, arguments: TranslateArguments, **options: Any) -> Answer:
    """Answers the question; the client is sent the progress if it asked for it."""
    request = QueryRequest(
        question=arguments.question,
        evidence=arguments.evidence,
        database=arguments.database or None,
        **options,
    )
    queue = ProgressQueue()
    steps, said = 0, ""
    async with running(call.services.queries.query(request, call.principal, queue)) as work:
        async for event in queue.follow(work, silence_s=_SILENCE_S):
            if isinstance(event, Progress) and (text := describe_stage(event)) != said:
                steps, said = steps + 1, text
                await call.context.session.report_progress(steps, message=text)
        return await work


@dataclass(frozen=True, slots=True)
class ToolEntry:
    """A tool's name and title, its description, its arguments and what it does."""

    name: str
    title: str
    description: str
    arguments: type[NoArguments]
    run: Callable[[ToolCall, Any], Awaitable[CallToolResult]]

    def describe(self) -> Tool:
        """The tool as clients list it."""
        return Tool(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=self.arguments.model_json_schema(),
            annotations=ToolAnnotations(
                read_only_hint=True, destructive_hint=False, open_world_hint=False
            ),
        )


TOOLS = {
    entry.name: entry
    for entry in (
        ToolEntry(
            "ask",
            "Ask a question",
            "Answers a question about a database: several SQL queries are written, checked, run "
            "and voted on. Returns the winning SQL, its rows and a confidence from 0 to 1. Prefer "
            "it to writing SQL yourself. With the outcome `clarify`, let the user choose an "
            "interpretation.",
            AskArguments,
            ask,
        ),
        ToolEntry(
            "translate",
            "Translate a question to SQL",
            "Returns the SQL for a question with its confidence, without rows.",
            TranslateArguments,
            translate,
        ),
        ToolEntry(
            "run_sql",
            "Run a query",
            "Runs one SELECT, read-only and limited to the rows and columns that you may see. "
            "Anything else is refused with the reason.",
            RunSqlArguments,
            run_sql,
        ),
        ToolEntry(
            "list_databases",
            "List databases",
            "Lists the databases that you may ask, with their SQL dialects and descriptions.",
            NoArguments,
            list_databases,
        ),
        ToolEntry(
            "describe_tables",
            "Describe tables",
            "Returns columns, types, comments and keys of the named tables, or the names of all "
            "tables if none is named. In a large database use search_schema instead.",
            DescribeTablesArguments,
            describe_tables,
        ),
        ToolEntry(
            "search_schema",
            "Search the schema",
            "Finds the tables that a question or keywords are about, with matching stored values "
            "and verified example queries.",
            SearchSchemaArguments,
            search_schema,
        ),
    )
}
