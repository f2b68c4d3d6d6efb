"""The trace id of a request: 32 hexadecimal digits, as W3C's trace context defines them."""

from __future__ import annotations

import re
import secrets
from contextvars import ContextVar

# https://www.w3.org/TR/trace-context/#traceparent-header
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(-.*)?")
_NONE = "0" * 32

TRACE_ID: ContextVar[str] = ContextVar("trace_id", default="")


def read_traceparent(header: str) -> str:
    """The trace id in a ``traceparent`` header; empty if the header is not valid.

    >>> read_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
    '0af7651916cd43dd8448eb211c80319c'
    """
    match = _TRACEPARENT.fullmatch(header)
    return match[1] if match and match[1] != _NONE else ""


def make_trace_id() -> str:
    """A new, random trace id."""
    return secrets.token_hex(16)
