"""A question with two interpretations: as an elicitation, or as a plain result."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from mcp.client.client import ConnectMode
from mcp.client.context import ClientRequestContext
from mcp_types import CallToolResult, ElicitRequestParams, ElicitResult, InputRequiredResult

from evaluation.runs.variants import override
from nl2sql.answers import Clarify, Trace
from nl2sql.types import Interpretation, Principal
from serve_app.mcp.clarification import read_choice, request_choice
from tests.fakes import (
    FakeGenerator,
    FakeGuard,
    FakeRepairer,
    build_candidate,
    build_generated,
    build_question,
    build_result,
    build_settings,
    build_violation,
)
from tests.serve_app.mcp.clients import MODES, call, connect_directly, connect_http, fail
from tests.serve_app.served import build_app, build_services

FIRST, SECOND = "SELECT name FROM customers WHERE id = 1", "SELECT name FROM customers"
LOCAL = Principal("local")


class User:
    """Fills in the forms that a client shows, and keeps them."""

    def __init__(self, action: Any = "accept", number: int = 2) -> None:
        self.forms: list[Any] = []
        self._action = action
        self._number = number

    async def __call__(
        self, context: ClientRequestContext, params: ElicitRequestParams
    ) -> ElicitResult:
        self.forms.append(params)
        if self._action != "accept":
            return ElicitResult(action=self._action)
        field = params.requested_schema["properties"]["interpretation"]  # type: ignore[union-attr]
        chosen = field["oneOf"][self._number - 1]["const"]
        return ElicitResult(action="accept", content={"interpretation": chosen})


def build_parts() -> dict[str, Any]:
    """A service that is never sure enough."""
    return {
        "generator": FakeGenerator(
            *[build_generated(build_candidate(FIRST), build_candidate(SECOND, id="c2"), samples=2)]
            * 2
        ),
        "guard": FakeGuard({"SELECT secret": build_violation("not_permitted")}),
        "results": {
            FIRST: [build_result(("a",))] * 4,
            SECOND: [build_result(("a",), ("b",))] * 4,
        },
        "repairer": FakeRepairer("", "", "", ""),
    }


SETTINGS = override(build_settings(), ["ranking.min_confidence=0.9"])


def connect(user: User | None, mode: ConnectMode = "auto", transport: str = "direct") -> Any:
    services = build_services(SETTINGS, **build_parts())
    if transport == "direct":
        return connect_directly(services, principal=LOCAL, mode=mode, elicitation=user)
    app = build_app(SETTINGS, **build_parts(), schemas=services.tools._schemas)  # type: ignore[arg-type]
    return connect_http(app, mode=mode, elicitation=user)


# A client of the older protocol cannot be asked over HTTP without a session.
REACHED: list[tuple[ConnectMode, str]] = [
    ("auto", "direct"),
    ("auto", "http"),
    ("legacy", "direct"),
]


@pytest.mark.parametrize(("mode", "transport"), REACHED)
async def test_the_user_is_asked_and_the_choice_is_run(mode: ConnectMode, transport: str) -> None:
    user = User(number=2)
    async with connect(user, mode, transport) as client:
        document = await call(client, "ask", question="Who has id 1?")
    assert document["outcome"] == "answered"
    assert document["sql"] == SECOND
    assert document["rows"] == [["a"], ["b"]]
    (form,) = user.forms
    choices = form.requested_schema["properties"]["interpretation"]["oneOf"]
    assert [choice["const"] for choice in choices] == [FIRST, SECOND]
    assert [choice["title"][:2] for choice in choices] == ["1.", "2."]
    assert "1. where id is 1" in form.message


@pytest.mark.parametrize("action", ["decline", "cancel"])
@pytest.mark.parametrize(("mode", "transport"), REACHED)
async def test_a_user_who_chooses_nothing_gets_no_rows(
    mode: ConnectMode, transport: str, action: str
) -> None:
    async with connect(User(action), mode, transport) as client:
        document = await call(client, "ask", question="Who has id 1?")
    assert document["outcome"] == "clarify"
    assert "rows" not in document


@pytest.mark.parametrize(
    ("mode", "transport", "user"),
    [
        *((mode, transport, None) for mode in MODES for transport in ("direct", "http")),
        ("legacy", "http", User()),
    ],
)
async def test_without_elicitation_the_interpretations_are_listed(
    mode: ConnectMode, transport: str, user: User | None
) -> None:
    async with connect(user, mode, transport) as client:
        document = await call(client, "ask", question="Who has id 1?")
        assert document["outcome"] == "clarify"
        numbered = [(found["number"], found["sql"]) for found in document["interpretations"]]
        assert numbered == [(1, FIRST), (2, SECOND)]
        assert "`picked`" in document["next"]
        answer = await call(client, "ask", question="Who has id 1?", picked=SECOND)
    assert answer["rows"] == [["a"], ["b"]]


async def test_a_forged_choice_is_guarded() -> None:
    """The choice comes from the client, so it may be any text."""
    async with connect(User()) as client:
        forged = ElicitResult(action="accept", content={"interpretation": "SELECT secret"})
        result = await client.session.call_tool(
            "ask",
            {"question": "Who has id 1?"},
            input_responses={"interpretation": forged},
            allow_input_required=True,
        )
        assert not isinstance(result, InputRequiredResult)
        assert isinstance(result, CallToolResult)
        assert result.structured_content["outcome"] in ("refused", "failed")
        document = await call(client, "ask", question="Who has id 1?", picked="SELECT secret")
        assert document["outcome"] in ("refused", "failed")
        message = await fail(client, "run_sql", sql="SELECT secret")
    assert "not_permitted" in message


@pytest.mark.parametrize("version", ["2024-11-05", "2025-06-18"])
async def test_an_older_client_gets_titles_as_it_knows_them(version: str) -> None:
    asked: list[dict[str, Any]] = []

    async def elicit_form(message: str, schema: dict[str, Any], request: Any) -> ElicitResult:
        asked.append(schema["properties"]["interpretation"])
        return ElicitResult(action="accept", content={"interpretation": FIRST})

    session = SimpleNamespace(elicit_form=elicit_form)
    context: Any = SimpleNamespace(protocol_version=version, session=session, request_id=1)
    trace = Trace(build_question())
    interpretations = (Interpretation(FIRST, "the first", 0.5), Interpretation(SECOND, "", 0.5))
    clarify = Clarify("Which one?", 0.5, interpretations, trace)
    assert read_choice(await request_choice(context, clarify)) == FIRST
    assert asked[0]["enum"] == [FIRST, SECOND]
    assert asked[0]["enumNames"] == ["1. the first", f"2. {SECOND}"]
