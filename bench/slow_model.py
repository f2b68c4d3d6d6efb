"""An OpenAI-compatible model that takes a second for each answer, one request at a time.

``python -m bench.slow_model PORT`` listens on loopback. It sleeps, so it costs no
processor time. Every answer is the same query.
"""

from __future__ import annotations

import json
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

ANSWER_S = 1.0
NAME = "slow"
_TEXT = "```sql\nSELECT count(*) AS n FROM employees\n```"
_MODELS = {"object": "list", "data": [{"id": NAME, "object": "model"}]}
_USAGE = {"prompt_tokens": 20, "completion_tokens": 10}


class _Server(HTTPServer):
    # Requests wait here for their turn.
    request_queue_size = 256


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self._send(_MODELS)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        time.sleep(ANSWER_S)
        message = {"role": "assistant", "content": _TEXT}
        choices = [{"index": index, "message": message} for index in range(body.get("n") or 1)]
        self._send({"id": "x", "object": "chat.completion", "choices": choices, "usage": _USAGE})

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Says nothing."""

    def _send(self, document: dict[str, Any]) -> None:
        content = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


if __name__ == "__main__":
    _Server(("127.0.0.1", int(sys.argv[1])), _Handler).serve_forever()
