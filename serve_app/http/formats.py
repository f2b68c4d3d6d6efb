"""The formats of an answer's rows: endings of files for the command line, media types for HTTP.

JSON is not among them: it contains the whole answer, these only the rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from execution.results.exports import render_csv, render_markdown, render_xlsx
from nl2sql.answers import Answered
from nl2sql.types import ResultSet

JSON = "application/json"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
# Some proxies and clients refuse longer headers.
_LONGEST_HEADER = 4000
_PART_CHARS = 2**20
_QUALITY = re.compile(r"q=(0(\.\d*)?|1(\.0*)?)")


@dataclass(frozen=True, slots=True)
class Format:
    """``render`` takes the result and ``spreadsheet_safe``."""

    media_type: str
    suffix: str
    render: Callable[[ResultSet, bool], bytes]


def _encode(text: str) -> bytes:
    # In parts: one call over the largest results would stop the event loop from another thread.
    starts = range(0, len(text), _PART_CHARS)
    return b"".join(text[start : start + _PART_CHARS].encode() for start in starts)


FORMATS = (
    Format("text/csv", "csv", lambda rows, safe: _encode(render_csv(rows, spreadsheet_safe=safe))),
    Format("text/markdown", "md", lambda rows, _: _encode(render_markdown(rows))),
    Format(XLSX, "xlsx", lambda rows, _: render_xlsx(rows)),
)
MEDIA_TYPES = (JSON, *(format_.media_type for format_ in FORMATS))


def find_format(media_type: str) -> Format | None:
    """The format of that media type; None for JSON."""
    return next((format_ for format_ in FORMATS if format_.media_type == media_type), None)


def describe_answer(answer: Answered) -> dict[str, str]:
    """The HTTP headers that describe the rows.

    ``QuorumSQL-SQL``, and in a session ``-Rewritten`` and ``-Notes``, are UTF-8, percent-encoded. A
    header that would be longer than 4,000 characters is left out.
    """
    trace = answer.trace
    texts = {"QuorumSQL-SQL": _quote(answer.sql, " ()*,.;:=<>'\"+-/")}
    if trace.question.session:
        texts["QuorumSQL-Session"] = trace.question.session
    if trace.asked:
        texts["QuorumSQL-Rewritten"] = _quote(trace.question.text, " ,.?")
    if trace.notes:
        texts["QuorumSQL-Notes"] = _quote(" ".join(trace.notes), " ,.'")
    headers = {
        "QuorumSQL-Database": quote(trace.question.database),
        "QuorumSQL-Confidence": str(answer.confidence),
        "QuorumSQL-Quorum": str(answer.quorum).lower(),
        "QuorumSQL-Truncated": str(answer.result.truncated).lower(),
        "QuorumSQL-Cut-Cells": str(len(answer.result.cut)),
    }
    return {
        **headers,
        **{name: text for name, text in texts.items() if len(text) <= _LONGEST_HEADER},
    }


def _quote(text: str, safe: str) -> str:
    # A model can write half a surrogate pair, which UTF-8 cannot encode.
    return quote(text, safe=safe, errors="replace")


def choose_media_type(accept: str, offered: Sequence[str]) -> str | None:
    """The offered type that ``accept`` rates best (RFC 9110, section 12.5.1); None if none.

    An empty header accepts everything. A q that is no number from 0 to 1 counts as 1.

    >>> offered = ("application/json", "text/csv")
    >>> choose_media_type("text/*, application/json;q=0.1", offered)
    'text/csv'
    >>> choose_media_type("*/*", offered), choose_media_type("image/png", offered)
    ('application/json', None)
    """
    ranges = [_read_range(text) for text in accept.split(",") if text.strip()] or [("*/*", 1.0)]
    left = [each for each in offered if (each, 0.0) not in ranges]
    for wanted, quality in sorted(ranges, key=lambda each: (-each[1], each[0].count("*"))):
        found = [each for each in left if quality and wanted in _list_ranges(each)]
        if found:
            return found[0]
    return None


def _list_ranges(media_type: str) -> tuple[str, ...]:
    return media_type, f"{media_type.partition('/')[0]}/*", "*/*", "*"


def _read_range(text: str) -> tuple[str, float]:
    name, *parameters = (part.strip().lower() for part in text.split(";"))
    found = [each[2:] for each in parameters if _QUALITY.fullmatch(each)]
    return name, float(found[0]) if found else 1.0
