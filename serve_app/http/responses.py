"""JSON responses with texts from any source: a request, a cell, a model.

Rows are rendered in parts. One call over all of them would hold Python's global lock for up to half
a second, and so stop the event loop even from another thread.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from nl2sql.results.json_values import to_json_value
from nl2sql.types import ResultSet

_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
# Cells that are rendered at a time: with the longest cells of the default limits, 2 MiB.
_PART_CELLS = 32
_PIECE_BYTES = 2**20

Parts = tuple[bytes, ...]
"""A body in parts, which other bodies may share."""


class AnyTextJSONResponse(JSONResponse):
    """A JSONResponse that escapes lone surrogates, which UTF-8 cannot encode."""

    def render(self, content: Any) -> bytes:
        """The bytes of the body."""
        return render_json(content)


class PartsResponse(Response):
    """A body in parts, which is sent in pieces: a server copies what it cannot send at once."""

    def __init__(self, parts: Parts, media_type: str, headers: Mapping[str, str]) -> None:
        super().__init__(media_type=media_type, headers=dict(headers))
        self.headers["content-length"] = str(sum(map(len, parts)))
        self._parts = parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send(
            {
                "type": "http.response.start",
                "status": self.status_code,
                "headers": list(self.raw_headers),
            }
        )
        for piece in split(self._parts):
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def split(parts: Parts) -> Iterator[bytes]:
    """The body in pieces of at most a mebibyte; one if it is not longer."""
    if sum(map(len, parts)) <= _PIECE_BYTES:
        yield b"".join(parts)
        return
    for part in parts:
        for start in range(0, len(part), _PIECE_BYTES):
            yield part[start : start + _PIECE_BYTES]


def render_json(content: Any) -> bytes:
    """JSON in one line."""
    return _ENCODER.encode(content).encode(errors="backslashreplace")


def render_rows(result: ResultSet) -> bytes:
    """The rows as a list of lists.

    >>> render_rows(ResultSet(("a", "b"), ("int4", "text"), ((1, "x"), (None, "y")), False, 0))
    b'[[1,"x"],[null,"y"]]'
    """
    return b"[%s]" % b",".join(map(_render_row, result.rows))


def render_with_rows(model: BaseModel, rows: bytes, exclude: Iterable[str] = ()) -> Parts:
    """The model with these ``rows``, which are neither its first field nor its last."""
    fields = model.model_dump(exclude={"rows", *exclude})
    names = [name for name in type(model).model_fields if name not in exclude]
    at = names.index("rows")
    before, after = (
        {name: fields[name] for name in part} for part in (names[:at], names[at + 1 :])
    )
    return render_json(before)[:-1] + b',"rows":', rows, b"," + render_json(after)[1:]


def _render_row(row: tuple[object, ...]) -> bytes:
    starts = range(0, len(row), _PART_CELLS)
    parts = (list(map(to_json_value, row[start : start + _PART_CELLS])) for start in starts)
    return b"[%s]" % b",".join(render_json(part)[1:-1] for part in parts)
