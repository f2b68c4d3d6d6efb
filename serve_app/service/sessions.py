"""``DELETE /sessions/{session}``, and the ids of sessions.

Knows nothing of FastAPI, so that tests use it directly.
"""

from __future__ import annotations

import re
import secrets

from pydantic import BaseModel, Field

from nl2sql.errors import InvalidRequest
from nl2sql.protocols import Sessions
from nl2sql.types import Principal

# Requests a new id from the service.
NEW = "new"
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


class Forgotten(BaseModel):
    """The result of deleting a session."""

    session: str
    turns: int = Field(description="How many questions were stored and are now deleted.")


class SessionService:
    """Deletes sessions of the principal who requests it."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    async def forget(self, session: str, principal: Principal) -> Forgotten:
        """Deletes a session; one that does not exist is not an error.

        Raises InvalidRequest, Unavailable.
        """
        turns = await self._sessions.forget(principal, check_session(session))
        return Forgotten(session=session, turns=turns)


def check_session(session: str) -> str:
    """The id, unchanged. Raises InvalidRequest."""
    if not _ID.fullmatch(session):
        raise InvalidRequest(
            "A session's id is 1 to 64 letters, digits, dots, dashes or underscores.",
            field="session",
        )
    return session


def read_session(session: str | None) -> str:
    """The id of a request: empty for none, a fresh one for ``new``. Raises InvalidRequest.

    >>> read_session(None), read_session("my-chat"), len(read_session("new"))
    ('', 'my-chat', 16)
    """
    if session is None:
        return ""
    return secrets.token_hex(8) if session == NEW else check_session(session)
