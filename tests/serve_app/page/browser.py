"""A browser that reads the page of a fake service, and notes whatever must not happen."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import uvicorn

from tests.serve_app.page.fake_service import FakeService

CHROMIUM = "/usr/bin/chromium"

# What must not happen is handed to `note`.
NOTE_FAULTS = """
document.addEventListener('securitypolicyviolation', (event) =>
  note(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
for (const name of ['alert', 'confirm', 'prompt', 'open']) {
  window[name] = () => note(name);
}
"""
_WATCH = f"""
window.__noted = [];
{{ const note = (fault) => window.__noted.push(fault); {NOTE_FAULTS} }}
"""


class Served:
    """A fake service on a port of its own; it can be stopped and started again there."""

    def __init__(self, service: FakeService) -> None:
        self.service = service
        self.port = 0
        self.start()

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://127.0.0.1:{self.port}/"

    def start(self) -> None:
        """Starts to serve, on the port of before."""
        config = uvicorn.Config(
            self.service.build_app(),
            host="127.0.0.1",
            port=self.port,
            log_level="critical",
            timeout_graceful_shutdown=0,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        while not self._server.started:
            time.sleep(0.01)
        self.port = self._server.servers[0].sockets[0].getsockname()[1]

    def stop(self) -> None:
        """Ends every connection and stops."""
        self._server.should_exit = True
        self._server.force_exit = True
        self._thread.join(10)


@dataclass(frozen=True)
class Site:
    """A service that runs for itself."""

    url: str


@dataclass
class Reader:
    """Somebody who reads the page, with a mouse or with the keyboard alone.

    ``served`` is a ``Served``, or a ``Site``: then there is no ``service`` to change.
    """

    page: Any
    served: Any
    hand: str = "mouse"
    requested: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.set_default_timeout(15_000)
        self.page.add_init_script(_WATCH)
        self.page.on("request", lambda request: self.requested.append(request.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("dialog", lambda dialog: self.errors.append(f"dialog: {dialog.message}"))

    @property
    def service(self) -> FakeService:
        """The service behind the page."""
        service: FakeService = self.served.service
        return service

    def visit(self, fragment: str = "") -> None:
        """Opens the page."""
        self.page.goto(self.served.url + fragment)

    def sign_in(self, token: str) -> None:
        """Signs in where the page asks for it: the field has the focus."""
        self.see("#key:focus")
        self.page.keyboard.type(token)
        self.page.keyboard.press("Enter")
        self.page.locator(".sign-in").wait_for(state="detached")

    def type_question(self, question: str) -> None:
        """Writes a question and sends it."""
        if self.hand == "keyboard":
            self.tab_to("#question")
            self.page.keyboard.type(question)
            self.page.keyboard.press("Enter")
        else:
            self.page.fill("#question", question)
            self.page.click(".send")

    def ask(self, question: str) -> None:
        """Asks, and waits for what comes of it."""
        before = self.page.locator(".turn").count()
        self.type_question(question)
        self.page.locator(".turn").nth(before).locator(
            ".answer, .no-answer, .clarify"
        ).first.wait_for()

    def leave_fields(self) -> None:
        """Takes the focus out of any field, as Escape does."""
        self.page.keyboard.press("Escape")
        self.wait_until("!document.activeElement?.matches('input, textarea, select')")

    def wait_until(self, expression: str) -> None:
        """Waits until the expression is true; Playwright's own wait would need eval in the page."""
        for _ in range(300):
            if self.page.evaluate(expression):
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(expression)

    def press(self, selector: str) -> None:
        """Clicks, or moves there with Tab and presses Enter."""
        if self.hand == "mouse":
            self.page.locator(selector).last.click()
            return
        self.tab_to(selector)
        self.page.keyboard.press("Enter")

    def tab_to(self, selector: str) -> None:
        """Presses Tab until the focus is on what the selector names."""
        target = self.see(selector)
        for _ in range(200):
            if target.evaluate("(element) => element === document.activeElement"):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"Tab does not reach {selector}")

    def see(self, selector: str) -> Any:
        """Waits until it is visible."""
        found = self.page.locator(selector).last
        found.wait_for()
        return found

    def point_at_chart(self) -> str:
        """Moves over the chart until the values of a place are told; the text."""
        self.see(".chart-canvas")
        self.page.evaluate("document.querySelector('.chart').scrollIntoView({block: 'center'})")
        for place in range(1200):  # thrice all places: it may be drawn anew meanwhile
            if place % 400 == 0:
                box = self.see(".chart-canvas").bounding_box()
            right, down = (place % 20 + 0.5) / 20, (place // 20 % 20 + 0.5) / 20
            self.page.mouse.move(box["x"] + box["width"] * right, box["y"] + box["height"] * down)
            told = self.page.evaluate("document.querySelector('.chart [title]')?.title")
            if told:
                return str(told)
        raise AssertionError("the chart tells nothing")

    def list_faults(self) -> list[str]:
        """Violations of the policy, errors, dialogs, requests to other hosts."""
        host = urlsplit(self.served.url).netloc
        foreign = [url for url in self.requested if urlsplit(url).netloc not in ("", host)]
        noted: list[str] = self.page.evaluate("window.__noted ?? []")
        return [*noted, *self.errors, *foreign]
