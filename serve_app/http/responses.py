"""JSON responses with texts from any source: a request, a cell, a model."""

from __future__ import annotations

import json
from typing import Any

from fastapi.responses import JSONResponse


class AnyTextJSONResponse(JSONResponse):
    """A JSONResponse that escapes lone surrogates, which UTF-8 cannot encode."""

    def render(self, content: Any) -> bytes:
        """The bytes of the body."""
        return render_json(content)


def render_json(content: Any) -> bytes:
    """JSON in one line."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode(errors="backslashreplace")
