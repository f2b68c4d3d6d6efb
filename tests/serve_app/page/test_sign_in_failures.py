"""Whoever comes back from the identity provider without a sign-in is told why, once."""

from __future__ import annotations

import pytest

from tests.serve_app.page.browser import Reader


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        ("cancelled", "You did not finish signing in"),
        ("refused", "did not work"),
        ("unavailable", "cannot be reached"),
        ("too_many", "in a minute"),
    ],
)
def test_a_failure_is_told_once(reader: Reader, reason: str, text: str) -> None:
    reader.service.needs_sign_in = True
    reader.page.goto(f"{reader.served.url}?sign_in={reason}#/schema")
    assert text in reader.see(".sign-in [role=alert]").inner_text()
    assert reader.page.url == f"{reader.served.url}#/schema"
    reader.page.reload()
    reader.see("#key")
    assert reader.page.locator(".sign-in [role=alert]").count() == 0


@pytest.mark.parametrize("reason", ["", "constructor", "<img src=x onerror=alert(1)>"])
def test_other_words_in_the_address_say_nothing(reader: Reader, reason: str) -> None:
    reader.service.needs_sign_in = True
    reader.page.goto(f"{reader.served.url}?sign_in={reason}")
    reader.see("#key")
    assert reader.page.locator(".sign-in [role=alert]").count() == 0
