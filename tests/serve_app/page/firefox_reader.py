"""Somebody who reads the page in Firefox with the keyboard, as ``Reader`` does in Chromium."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.serve_app.page.browser import NOTE_FAULTS, Served
from tests.serve_app.page.fake_service import FakeService
from tests.serve_app.page.firefox import BidiError, Firefox

_WAIT_S = 20
_EVENTS = (
    "log.entryAdded",
    "network.beforeRequestSent",
    "script.message",
    "browsingContext.userPromptOpened",
    "browsingContext.downloadEnd",
)
# https://www.w3.org/TR/webdriver2/#keyboard-actions
_KEYS = {
    "Tab": "\ue004",
    "Enter": "\ue007",
    "Control": "\ue009",
    "Escape": "\ue00c",
    "End": "\ue010",
    "ArrowRight": "\ue014",
    "ArrowDown": "\ue015",
    "Delete": "\ue017",
    "F2": "\ue032",
}
# The last visible element that has the text, or null.
_FIND = """(([selector, text]) => [...document.querySelectorAll(selector)].filter((element) =>
  element.checkVisibility() && (element.innerText ?? '').includes(text)).at(-1) ?? null)"""


@dataclass
class FirefoxReader:
    """A tab without history or cookies, with a window of 1280 by 800 pixels."""

    firefox: Firefox
    served: Served

    def __post_init__(self) -> None:
        call = self.firefox.call
        self.firefox.events.clear()
        self.user = call("browser.createUserContext")["userContext"]
        self.tab = call("browsingContext.create", type="tab", userContext=self.user)["context"]
        call("session.subscribe", events=_EVENTS, userContexts=[self.user])
        call(
            "browser.setDownloadBehavior",
            downloadBehavior={"type": "allowed", "destinationFolder": str(self.firefox.folder)},
            userContexts=[self.user],
        )
        call("emulation.setLocaleOverride", locale="en-GB", contexts=[self.tab])
        call(
            "browsingContext.setViewport",
            context=self.tab,
            viewport={"width": 1280, "height": 800},
        )
        call(
            "script.addPreloadScript",
            functionDeclaration=f"(note) => {{ {NOTE_FAULTS} }}",
            arguments=[{"type": "channel", "value": {"channel": "faults"}}],
            contexts=[self.tab],
        )

    @property
    def service(self) -> FakeService:
        """The service behind the page."""
        return self.served.service

    def close(self) -> None:
        """Closes the tab and forgets what was stored."""
        self.firefox.call("browser.removeUserContext", userContext=self.user)

    def visit(self, fragment: str = "") -> None:
        """Opens the page."""
        url = self.served.url + fragment
        self.firefox.call("browsingContext.navigate", context=self.tab, url=url, wait="complete")

    def evaluate(self, expression: str) -> Any:
        """The value of an expression, as JSON."""
        result = self.firefox.call(
            "script.evaluate",
            expression=f"(async () => JSON.stringify(await ({expression}) ?? null))()",
            target={"context": self.tab},
            awaitPromise=True,
        )
        if result["type"] == "exception":
            raise BidiError(f"{expression}: {result['exceptionDetails']['text']}")
        return json.loads(result["result"]["value"])

    def wait_until(self, expression: str) -> Any:
        """Waits until the expression has a value that is not false or empty, and returns it."""
        end = time.monotonic() + _WAIT_S
        while time.monotonic() < end:
            if value := self.evaluate(expression):
                return value
            time.sleep(0.03)
        raise AssertionError(f"{expression}\n{self.evaluate('document.body.innerText')}")

    def see(self, selector: str, text: str = "") -> str:
        """Waits until it is visible and has the text. Returns all text of it."""
        found = f"{_FIND}({json.dumps([selector, text])})"
        shown: str = self.wait_until(f"((found) => found && [found.innerText])({found})")[0]
        return shown

    def list_texts(self, selector: str) -> list[str]:
        """The text of each element."""
        found = f"[...document.querySelectorAll({json.dumps(selector)})]"
        texts: list[str] = self.evaluate(f"{found}.map((element) => element.innerText)")
        return texts

    def press(self, *strokes: str) -> None:
        """Presses keys one after another: ``g``, ``Enter``, ``Control+End``."""
        for stroke in strokes:
            keys = [_KEYS.get(key, key) for key in stroke.split("+")]
            downs = [{"type": "keyDown", "value": key} for key in keys]
            ups = [{"type": "keyUp", "value": key} for key in reversed(keys)]
            self._act("key", [*downs, *ups])

    def type(self, text: str) -> None:
        """Types a text."""
        kinds = ("keyDown", "keyUp")
        self._act("key", [{"type": kind, "value": letter} for letter in text for kind in kinds])

    def point_at(self, x: float, y: float) -> None:
        """Moves the pointer to a place of the window."""
        self._act("pointer", [{"type": "pointerMove", "x": round(x), "y": round(y)}])

    def _act(self, kind: str, actions: list[dict[str, Any]]) -> None:
        source = {"type": kind, "id": kind, "actions": actions}
        self.firefox.call("input.performActions", context=self.tab, actions=[source])

    def leave_fields(self) -> None:
        """Takes the focus out of any field, as Escape does."""
        self.press("Escape")
        self.wait_until("!document.activeElement?.matches('input, textarea, select')")

    def tab_to(self, selector: str, text: str = "") -> None:
        """Presses Tab until the focus is on what is named."""
        self.see(selector, text)
        for _ in range(120):
            if self.evaluate(f"{_FIND}({json.dumps([selector, text])}) === document.activeElement"):
                return
            self.press("Tab")
        raise AssertionError(f"Tab does not reach {selector} {text}")

    def type_question(self, question: str) -> None:
        """Writes a question and sends it."""
        self.leave_fields()
        self.press("/")
        self.wait_until("document.activeElement?.id === 'question'")
        self.type(question)
        self.press("Enter")

    def ask(self, question: str) -> None:
        """Asks, and waits for what comes of it."""
        before = len(self.list_texts(".turn"))
        self.type_question(question)
        self.wait_until(
            f"document.querySelectorAll('.turn')[{before}]"
            "?.querySelector('.answer, .no-answer, .clarify') != null"
        )

    def save(self, key: str) -> Path:
        """Presses a key that saves a file, and waits for the file."""
        self.press(key)
        end = time.monotonic() + _WAIT_S
        while time.monotonic() < end:
            for event in self.firefox.events:
                method, what = event
                if method == "browsingContext.downloadEnd":
                    self.firefox.events.remove(event)
                    assert what["status"] == "complete", what
                    return Path(what["filepath"])
            self.evaluate("new Promise(requestAnimationFrame)")
        raise AssertionError(f"{key} saves nothing")

    def take_faults(self) -> list[str]:
        """What must not happen, since the last time: as ``Reader.list_faults``."""
        self.evaluate("new Promise(requestAnimationFrame)")
        host = urlsplit(self.served.url).netloc
        faults = []
        for method, what in self.firefox.events:
            if method == "log.entryAdded" and what["level"] == "error":
                faults.append(f"log: {what['text']}")
            elif method == "network.beforeRequestSent":
                url = what["request"]["url"]
                if urlsplit(url).netloc not in ("", host):
                    faults.append(url)
            elif method == "script.message":
                faults.append(what["data"]["value"])
            elif method == "browsingContext.userPromptOpened":
                faults.append(f"dialog: {what['message']}")
        self.firefox.events.clear()
        return faults
