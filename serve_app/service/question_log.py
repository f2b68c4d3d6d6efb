"""The log: one line of JSON for each question. Never contains rows or cell values.

A line has the trace id of the request: 32 hexadecimal digits, as W3C's trace context defines them.
Logs of the service, ours and the modules', go to the logger ``quorumsql``.
"""

from __future__ import annotations

import json
import logging
import re
import secrets
import sys
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

from opentelemetry import trace

LOGGER = logging.getLogger("quorumsql")
_MESSAGE = "question"
_FIELDS = "quorumsql_fields"
# https://www.w3.org/TR/trace-context/#traceparent-header
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(-.*)?")
_NONE = "0" * 32

TRACE_ID: ContextVar[str] = ContextVar("trace_id", default="")


def configure_logging() -> None:
    """Makes the logger write to standard error, which Ray keeps in the logs of its session."""
    handler = StandardError()
    handler.setFormatter(JsonLines())
    LOGGER.handlers = [handler]
    LOGGER.setLevel(logging.INFO)


class StandardError(logging.Handler):
    """Writes to what ``sys.stderr`` is at that time, as Ray and tests redirect it."""

    def emit(self, record: logging.LogRecord) -> None:
        """Writes the line."""
        sys.stderr.write(f"{self.format(record)}\n")
        sys.stderr.flush()


def log_question(fields: dict[str, Any]) -> None:
    """Writes the line of a question; what is None is left out."""
    if LOGGER.isEnabledFor(logging.INFO):
        known = {name: value for name, value in fields.items() if value is not None}
        LOGGER.info(_MESSAGE, extra={_FIELDS: known})


class JsonLines(logging.Formatter):
    """A JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        fields: dict[str, Any] = {
            "time": _read_time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, _FIELDS, {}),
        }
        if record.exc_info:
            fields["exception"] = self.formatException(record.exc_info)
        return json.dumps(fields)


def _read_time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")


def read_traceparent(header: str) -> str:
    """The trace id in a ``traceparent`` header; empty if the header is not valid.

    >>> read_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
    '0af7651916cd43dd8448eb211c80319c'
    """
    match = _TRACEPARENT.fullmatch(header)
    return match[1] if match and match[1] != _NONE else ""


def find_trace_id() -> str:
    """The id of the current trace of OpenTelemetry; empty outside of one."""
    context = trace.get_current_span().get_span_context()
    return trace.format_trace_id(context.trace_id) if context.is_valid else ""


def make_trace_id() -> str:
    """A new, random trace id."""
    return secrets.token_hex(16)
