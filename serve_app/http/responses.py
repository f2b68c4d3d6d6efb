"""JSON responses with texts from any source: a request, a cell, a model.

Rows are rendered in parts. One call over all of them would hold Python's global lock for up to half
a second, and so stop the event loop even from another thread.
"""

from __future__ import annotations

import json
from typing import Any

from fastapi.responses import JSONResponse
from pydantic import BaseModel

_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
# Cells that are rendered at a time: with the longest cells of the default limits, 2 MiB.
_PART_CELLS = 32


class AnyTextJSONResponse(JSONResponse):
    """A JSONResponse that escapes lone surrogates, which UTF-8 cannot encode."""

    def render(self, content: Any) -> bytes:
        """The bytes of the body."""
        return render_json(content)


def dump_model(model: BaseModel) -> dict[str, Any]:
    """The model's fields as JSON values; ``rows`` are not copied."""
    rows = getattr(model, "rows", None)
    if not isinstance(rows, list):
        return model.model_dump()
    fields = model.model_dump(exclude={"rows"})
    return {name: rows if name == "rows" else fields[name] for name in type(model).model_fields}


def render_json(content: Any) -> bytes:
    r"""JSON in one line.

    >>> render_json({"rows": [[1, "\ud800"], [None, 2.5]]})
    b'{"rows":[[1,"\\ud800"],[null,2.5]]}'
    """
    if not isinstance(content, dict):
        return _render_value(content)
    members = (_encode(str(key)) + b":" + _render_value(value) for key, value in content.items())
    return b"{%s}" % b",".join(members)


def _render_value(value: Any) -> bytes:
    if not isinstance(value, list) or not value:
        return _encode(value)
    if isinstance(value[0], list):
        return b"[%s]" % b",".join(map(_render_value, value))
    starts = range(0, len(value), _PART_CELLS)
    return b"[%s]" % b",".join(
        _encode(value[start : start + _PART_CELLS])[1:-1] for start in starts
    )


def _encode(value: Any) -> bytes:
    return _ENCODER.encode(value).encode(errors="backslashreplace")
