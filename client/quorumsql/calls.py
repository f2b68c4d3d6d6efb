"""The requests that need no model, as both clients send them, and what comes back.

Each function names the parameters of its route. Knows nothing of how bytes travel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import quote

import httpx
from pydantic import BaseModel

from quorumsql import wire
from quorumsql.contract.answers import AnsweredResponse
from quorumsql.contract.feedback import FeedbackRequest
from quorumsql.contract.history import (
    ConversationEntryResponse,
    ConversationResponse,
    ConversationsResponse,
    DeletedResponse,
    OwnSharesResponse,
    SharedResponse,
    ShareResponse,
)
from quorumsql.contract.identity import PrincipalResponse
from quorumsql.contract.review import ReviewResponse
from quorumsql.contract.runs import FormatResponse, RunResponse
from quorumsql.contract.schema import (
    DatabasesResponse,
    DefinitionsResponse,
    SuggestionsResponse,
    TableDetailsResponse,
    TablesResponse,
)
from quorumsql.contract.service_status import ServiceStatusResponse
from quorumsql.errors import InvalidRequest

_Model = TypeVar("_Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Call(Generic[_Model]):
    """A request whose response is a ``model``. ``body`` is sent if it is not None."""

    method: str
    path: str
    model: type[_Model]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None

    @property
    def options(self) -> dict[str, Any]:
        """What httpx is given besides method and path; parameters without a value are left out."""
        given = {name: value for name, value in self.parameters.items() if value not in ("", None)}
        options: dict[str, Any] = {"params": given} if given else {}
        return options | ({"json": self.body} if self.body is not None else {})

    def read(self, response: httpx.Response) -> _Model:
        """The model in the response. Raises what a problem document says."""
        return self.model.model_validate(wire.read_json(response))


class Nothing(BaseModel):
    """The body of a response that has none."""


def _quote(name: str, *, safe: str = "") -> str:
    return quote(name, safe=safe)


def name_query(answer: AnsweredResponse) -> dict[str, Any]:
    """How a request names the query of an answer: its SQL, or what stands for it."""
    if answer.sql or not answer.reference:
        return {"database": answer.database, "sql": answer.sql}
    return {"reference": answer.reference}


def build_feedback(
    answer: AnsweredResponse, verdict: Literal["right", "wrong"], correction: str | None
) -> FeedbackRequest:
    """What is said about an answer."""
    return FeedbackRequest(
        question=answer.rewritten or answer.question,
        verdict=verdict,
        correction=correction,
        **name_query(answer),
    )


def me() -> Call[PrincipalResponse]:
    """``GET /me``."""
    return Call("GET", "/me", PrincipalResponse)


def databases() -> Call[DatabasesResponse]:
    """``GET /databases``."""
    return Call("GET", "/databases", DatabasesResponse)


def tables(database: str, search: str, after: str, limit: int) -> Call[TablesResponse]:
    """``GET /databases/{database}/tables``."""
    parameters = {"search": search, "after": after, "limit": limit}
    return Call("GET", f"/databases/{_quote(database)}/tables", TablesResponse, parameters)


def table(database: str, name: str) -> Call[TableDetailsResponse]:
    """``GET /databases/{database}/tables/{table}``."""
    path = f"/databases/{_quote(database)}/tables/{_quote(name, safe='/')}"
    return Call("GET", path, TableDetailsResponse)


def definitions(database: str) -> Call[DefinitionsResponse]:
    """``GET /databases/{database}/definitions``."""
    return Call("GET", f"/databases/{_quote(database)}/definitions", DefinitionsResponse)


def suggestions(database: str) -> Call[SuggestionsResponse]:
    """``GET /databases/{database}/suggestions``."""
    return Call("GET", f"/databases/{_quote(database)}/suggestions", SuggestionsResponse)


def run(
    sql: str,
    database: str | None,
    max_rows: int | None,
    share: str,
    reference: str,
    *,
    spreadsheet_safe: bool = False,
) -> Call[RunResponse]:
    """``POST /run``."""
    body = {
        "sql": sql,
        "database": database,
        "max_rows": max_rows,
        "share": share,
        "reference": reference,
        "spreadsheet_safe": spreadsheet_safe,
    }
    return Call("POST", "/run", RunResponse, body=body)


def format_query(sql: str, database: str | None) -> Call[FormatResponse]:
    """``POST /format``."""
    return Call("POST", "/format", FormatResponse, body={"sql": sql, "database": database})


def conversations(
    search: str, starred: bool | None, after: str, limit: int
) -> Call[ConversationsResponse]:
    """``GET /conversations``."""
    parameters = {"search": search, "starred": starred, "after": after, "limit": limit}
    return Call("GET", "/conversations", ConversationsResponse, parameters)


def conversation(id_: str) -> Call[ConversationResponse]:
    """``GET /conversations/{id}``."""
    return Call("GET", f"/conversations/{_quote(id_)}", ConversationResponse)


def change_conversation(
    id_: str, title: str | None, starred: bool | None
) -> Call[ConversationEntryResponse]:
    """``PATCH /conversations/{id}``."""
    body = {"title": title, "starred": starred}
    return Call("PATCH", f"/conversations/{_quote(id_)}", ConversationEntryResponse, body=body)


def delete_conversation(id_: str) -> Call[DeletedResponse]:
    """``DELETE /conversations/{id}``."""
    # An empty id would delete all of them.
    if not id_:
        raise InvalidRequest("Name the conversation.", field="id")
    return Call("DELETE", f"/conversations/{_quote(id_)}", DeletedResponse)


def delete_conversations() -> Call[DeletedResponse]:
    """``DELETE /conversations``."""
    return Call("DELETE", "/conversations", DeletedResponse)


def share(answer: AnsweredResponse) -> Call[SharedResponse]:
    """``POST /shares``."""
    body = {"question": answer.rewritten or answer.question, **name_query(answer)}
    return Call("POST", "/shares", SharedResponse, body=body)


def shares(after: str, limit: int) -> Call[OwnSharesResponse]:
    """``GET /shares``."""
    return Call("GET", "/shares", OwnSharesResponse, {"after": after, "limit": limit})


def shared(id_: str) -> Call[ShareResponse]:
    """``GET /shares/{id}``."""
    return Call("GET", f"/shares/{_quote(id_)}", ShareResponse)


def end_share(id_: str) -> Call[Nothing]:
    """``DELETE /shares/{id}``."""
    return Call("DELETE", f"/shares/{_quote(id_)}", Nothing)


def review(
    verdict: Literal["right", "wrong"],
    state: Literal["open", "done"],
    database: str,
    after: str,
    limit: int,
) -> Call[ReviewResponse]:
    """``GET /feedback``."""
    parameters = {
        "verdict": verdict,
        "state": state,
        "database": database,
        "after": after,
        "limit": limit,
    }
    return Call("GET", "/feedback", ReviewResponse, parameters)


def withdraw_feedback(id_: str) -> Call[Nothing]:
    """``DELETE /feedback/{id}``."""
    return Call("DELETE", f"/feedback/{_quote(id_)}", Nothing)


def finish_review(id_: str) -> Call[Nothing]:
    """``POST /feedback/{id}/done``."""
    return Call("POST", f"/feedback/{_quote(id_)}/done", Nothing)


def service_status() -> Call[ServiceStatusResponse]:
    """``GET /status``."""
    return Call("GET", "/status", ServiceStatusResponse)
