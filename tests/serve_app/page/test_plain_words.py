"""What the page says is true, and can be read by somebody who does not know the product."""

from __future__ import annotations

import re

import pytest

from tests.serve_app.page.browser import Reader

LINE = "Which product line earned most last year?"
# Names inside of the product, and words for it that say nothing to a reader of data.
JARGON = (
    "replica|ingress|executor|deployment|HEALTHY|UPDATING|revision|off_topic|unknown_column|"
    "clarify|refused|outcome|of the model|p50|p95|not you|principal|masked|withheld"
)


@pytest.mark.parametrize("view", ["me", "status"])
@pytest.mark.parametrize("sign_in", [True, False])
def test_account_and_status_are_in_plain_words(reader: Reader, view: str, sign_in: bool) -> None:
    reader.service.person["sign_in"] = "cookie" if sign_in else "none"
    reader.visit(f"#/{view}")
    reader.see(".limits, .tiles")
    text = reader.page.locator("main").inner_text()
    assert re.findall(JARGON, text, re.IGNORECASE) == []


def test_the_status_says_what_works(reader: Reader) -> None:
    reader.visit("#/status")
    reader.see(".tiles")
    text = reader.page.locator("main").inner_text()
    assert "1 part of the service has a problem." in text
    for words in ("Language model\tworks", "Database shop\tthe database is unreachable"):
        assert words in text
    assert "not about the data" in text
    before = len([url for url in reader.requested if url.endswith("/status")])
    reader.page.keyboard.press("r")
    reader.page.wait_for_timeout(300)
    assert len([url for url in reader.requested if url.endswith("/status")]) == before + 1


def _open_share_dialog(reader: Reader) -> str:
    reader.see("#question")
    reader.ask(LINE)
    reader.page.click(".answer-foot button:has-text('Share')")
    reader.wait_until("document.querySelector('dialog input')?.value.includes('#/share/')")
    text: str = reader.see("dialog").inner_text()
    return text


def test_without_a_sign_in_nobody_must_sign_in(reader: Reader) -> None:
    reader.visit()
    text = _open_share_dialog(reader)
    assert "This service has no sign-in: whoever opens the link sees the rows." in text
    assert "must sign in" not in text


def test_with_a_sign_in_everybody_must(reader: Reader) -> None:
    reader.service.needs_sign_in = True
    reader.visit()
    reader.sign_in("the-key")
    text = _open_share_dialog(reader)
    assert "Whoever opens the link must sign in." in text
    assert "no sign-in" not in text


def test_an_address_that_others_do_not_reach_is_named(reader: Reader) -> None:
    reader.visit()
    assert "This address works only on this computer." in _open_share_dialog(reader)
    here = "127.0.0.1 127.8.0.9 localhost a.localhost [::1]".split()
    elsewhere = "data.example.org 10.0.0.1 127.example.org localhost.org 192.168.127.1".split()
    found = reader.page.evaluate(
        """async (names) => {
          const { isOnlyHere } = await import(new URL("page/js/core/api.js", document.baseURI));
          return names.filter(isOnlyHere);
        }""",
        [*here, *elsewhere],
    )
    assert found == here
