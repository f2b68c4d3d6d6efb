"""Debian's Firefox, driven by WebDriver BiDi, which it speaks itself.

Playwright drives only a Firefox of its own making. The commands and events are those of
https://www.w3.org/TR/webdriver-bidi, as JSON over a WebSocket.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

FIREFOX = "/usr/bin/firefox-esr"

# For the start, and for each reply.
_LIMIT_S = 90
_END_S = 20
# The look of the system is dark, and no list of downloads opens, which would take the focus.
_PREFERENCES = """
user_pref("layout.css.prefers-color-scheme.content-override", 0);
user_pref("browser.download.alwaysOpenPanel", false);
"""
_LISTENS = "WebDriver BiDi listening on "


class BidiError(AssertionError):
    """Firefox answers a command with an error."""


@dataclass
class Firefox:
    """A running Firefox. Events are kept until somebody takes them."""

    socket: ClientConnection
    folder: Path
    """For its files; it is removed when Firefox has ended."""
    events: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    _sent: int = 0

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The result of a command."""
        self._sent += 1
        self.socket.send(json.dumps({"id": self._sent, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.recv(timeout=_LIMIT_S))
            if message["type"] == "event":
                self.events.append((message["method"], message["params"]))
            elif message["id"] == self._sent:
                break
        if message["type"] == "error":
            raise BidiError(f"{method}: {message['error']}: {message['message']}")
        result: dict[str, Any] = message["result"]
        return result


@contextmanager
def open_firefox() -> Iterator[Firefox]:
    """Firefox with an empty profile. Afterwards the process has ended and the profile is gone."""
    with tempfile.TemporaryDirectory(prefix="firefox-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "user.js").write_text(_PREFERENCES)
        with (folder / "output").open("w") as output:
            process = subprocess.Popen(
                [FIREFOX, "--headless", "--profile", name, "--remote-debugging-port=0"],
                stdout=output,
                stderr=output,
                env={**os.environ, "HOME": name},
            )
        try:
            address = _read_address(process, folder / "output")
            with connect(f"{address}/session", max_size=None, proxy=None) as socket:
                firefox = Firefox(socket, folder)
                firefox.call("session.new", capabilities={})
                yield firefox
                firefox.call("browser.close")
            process.wait(_END_S)
        finally:
            process.kill()
            process.wait()


def _read_address(process: subprocess.Popen[bytes], output: Path) -> str:
    """Waits until Firefox says where it listens."""
    end = time.monotonic() + _LIMIT_S
    while time.monotonic() < end and process.poll() is None:
        for line in output.read_text().splitlines(keepends=True):
            if line.startswith(_LISTENS) and line.endswith("\n"):
                return line.removeprefix(_LISTENS).strip()
        time.sleep(0.05)
    raise AssertionError(f"Firefox does not start: {output.read_text()}")
