"""Asks the user which interpretation of a question is meant: an elicitation.

Since protocol version 2026-07-28 it is a result of the call, which the client repeats with the
user's choice. The chosen value is the SQL of the interpretation itself, so the server keeps nothing
of a call between the two. Before that version it is a request of the server's, which needs a
connection in that direction; over stateless HTTP there is none.
"""

from __future__ import annotations

from typing import Any

from mcp.server.context import ServerRequestContext
from mcp_types import (
    CallToolRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)
from mcp_types.version import is_version_at_least

from execution.results.exports import escape_markdown
from nl2sql.answers import Clarify

_FIELD = "interpretation"
# The first version with elicitations as results, and the first with titles of choices.
_AS_RESULT = "2026-07-28"
_WITH_TITLES = "2025-11-25"


def can_elicit(context: ServerRequestContext[Any, Any]) -> bool:
    """Whether the client shows forms to its user, and can be reached with one."""
    capabilities = context.session.client_capabilities
    if capabilities is None or capabilities.elicitation is None:
        return False
    modes = capabilities.elicitation
    # A client that names no mode has the first one that there was: forms.
    has_forms = modes.form is not None or modes.url is None
    return has_forms and (asks_by_result(context) or context.session.can_send_request)


def asks_by_result(context: ServerRequestContext[Any, Any]) -> bool:
    """Whether an elicitation is a result of the call in the protocol's version."""
    return is_version_at_least(context.protocol_version, _AS_RESULT)


def require_choice(clarify: Clarify) -> InputRequiredResult:
    """The result that makes the client ask its user and repeat the call."""
    request = ElicitRequest(params=_build_form(clarify, _AS_RESULT))
    return InputRequiredResult(input_requests={_FIELD: request})


async def request_choice(context: ServerRequestContext[Any, Any], clarify: Clarify) -> ElicitResult:
    """Asks the user over the connection and waits for the answer."""
    form = _build_form(clarify, context.protocol_version)
    return await context.session.elicit_form(
        form.message, form.requested_schema, context.request_id
    )


def find_response(params: CallToolRequestParams) -> ElicitResult | None:
    """The user's answer in a repeated call; None in a first call."""
    response = (params.input_responses or {}).get(_FIELD)
    return response if isinstance(response, ElicitResult) else None


def read_choice(response: ElicitResult) -> str:
    """The SQL of the chosen interpretation; empty if the user chose none."""
    if response.action != "accept" or response.content is None:
        return ""
    chosen = response.content.get(_FIELD)
    return chosen if isinstance(chosen, str) else ""


def _build_form(clarify: Clarify, version: str) -> ElicitRequestFormParams:
    queries = [each.sql for each in clarify.interpretations]
    titles = [
        f"{number}. {escape_markdown(interpretation.description or interpretation.sql)}"
        for number, interpretation in enumerate(clarify.interpretations, start=1)
    ]
    choice: dict[str, Any] = {"type": "string", "title": "Interpretation"}
    if is_version_at_least(version, _WITH_TITLES):
        choice["oneOf"] = [
            {"const": sql, "title": title} for sql, title in zip(queries, titles, strict=True)
        ]
    else:
        choice |= {"enum": queries, "enumNames": titles}
    return ElicitRequestFormParams(
        message="\n".join((escape_markdown(clarify.reason), *titles)),
        requested_schema={"type": "object", "properties": {_FIELD: choice}, "required": [_FIELD]},
    )
