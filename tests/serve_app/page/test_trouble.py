"""The service is slow, busy, away, restarted; the sign-in ends: the page says so and goes on."""

from __future__ import annotations

import pytest

from tests.serve_app.page.browser import Reader
from tests.serve_app.page.fake_service import KEY, problem

LINE = "Which product line earned most last year?"


def _start(reader: Reader) -> None:
    reader.visit()
    reader.see(".suggestions")


def test_a_refusal_that_passes_is_waited_for(reader: Reader) -> None:
    busy = problem(503, "Temporarily unavailable", "All places are taken.", retry_after=1)
    short = problem(429, "Limit reached", "Too many questions in this minute.", retry_after=1)
    long = problem(429, "Limit reached", "You used all tokens of today.", retry_after=7200)
    _start(reader)
    for refusal, told in ((busy, "All places are taken"), (short, "sent again in")):
        reader.service.refuse.append(refusal)
        reader.type_question(LINE)
        reader.see(f".turn.last .progress-note:has-text('{told}')")
        reader.see(".turn.last .answer")
    reader.service.refuse.append(long)
    reader.type_question(LINE)
    text = reader.see(".problem").inner_text()
    assert "A limit is reached" in text
    assert "2 h" in text
    reader.page.click("text=Ask again")
    reader.see(".turn.last .answer")


def test_a_lost_question_is_asked_again(reader: Reader) -> None:
    reader.service.pause_s, reader.service.break_after = 0.05, 5
    _start(reader)
    reader.type_question(LINE)
    reader.see(".progress-note:has-text('asked again')")
    reader.see(".answer")
    assert len([path for _, path, _ in reader.service.received if path == "/query"]) == 2


def test_a_restart_in_the_middle(reader: Reader) -> None:
    reader.service.pause_s = 0.3
    _start(reader)
    reader.type_question(LINE)
    reader.see(".stages .done")
    reader.served.stop()
    assert "does not answer" in reader.see(".connection").inner_text()
    reader.service.pause_s = 0.02
    reader.served.start()
    reader.see(".answer")
    reader.page.wait_for_selector(".connection", state="detached")


def test_an_ended_sign_in_takes_everything_away(reader: Reader) -> None:
    reader.service.needs_sign_in = True
    reader.visit()
    reader.page.fill("#key", KEY)
    reader.page.keyboard.press("Enter")
    reader.see(".suggestions")
    reader.ask(LINE)
    reader.service.sessions.clear()
    reader.page.fill("#question", "Another secret question")
    reader.page.keyboard.press("Enter")
    assert "Your sign-in has ended" in reader.see(".sign-in").inner_text()
    _assert_nothing_is_left(reader)
    reader.page.fill("#key", KEY)
    reader.page.keyboard.press("Enter")
    reader.see("#question")
    assert reader.page.input_value("#question") == ""
    assert reader.page.locator(".turn").count() <= 1


def _assert_nothing_is_left(reader: Reader) -> None:
    page = reader.page
    shown = (
        page.content()
        + page.title()
        + page.evaluate("JSON.stringify([localStorage, sessionStorage])")
    )
    for text in ("Trekking", "product line", "Ann Becker", "demo_erp", "sales."):
        assert text not in shown, text
    assert page.evaluate("(async () => (await caches.keys()).length)()") == 0


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        ("cancelled", "You did not finish signing in"),
        ("refused", "did not work"),
        ("unavailable", "cannot be reached"),
        ("too_many", "in a minute"),
        ("constructor", ""),
        ("<img src=x onerror=alert(1)>", ""),
    ],
)
def test_a_sign_in_that_failed_at_the_provider_is_told_once(
    reader: Reader, reason: str, text: str
) -> None:
    """Other words in the address say nothing."""
    reader.service.needs_sign_in = True
    reader.page.goto(f"{reader.served.url}?sign_in={reason}#/schema")
    reader.see("#key")
    told = reader.page.locator(".sign-in [role=alert]")
    assert told.count() == bool(text)
    if text:
        assert text in told.inner_text()
        assert reader.page.url == f"{reader.served.url}#/schema"
        reader.page.reload()
        reader.see("#key")
        assert told.count() == 0
