"""Which hosts and pages are answered."""

from __future__ import annotations

import pytest

from serve_app.http.origins import HostRule, OriginRule, read_host


@pytest.mark.parametrize(
    "host",
    [
        "localhost", "LOCALHOST:8000", "localhost.", "a.localhost", "127.0.0.1", "127.0.0.1:8000",
        "10.1.2.3:1", "[::1]", "[::1]:8000", "[fe80::1]", "desk", "sql.example.com",
        "a.wild.example.com", "a.b.wild.example.com:443",
    ],
)  # fmt: skip
def test_own_names_and_addresses_are_answered(host: str) -> None:
    assert HostRule(["SQL.example.com", "*.wild.example.com"], machine="Desk").allows(host)


@pytest.mark.parametrize(
    "host",
    [
        "", "evil.io", "localhost.evil.io", "evillocalhost", "127.0.0.1.evil.io", "127.1", "0x7f.1",
        "wild.example.com", "evilwild.example.com", "x.sql.example.com", "localhost@evil.io",
        "localhost, evil.io", "localhost/", "localhost:x", "localhost:123456", "[::1", "::1",
        "[localhost]", "[1.2.3.4]x", "\xff", "*", "*.wild.example.com", "a b", ".", "a" * 300,
    ],
)  # fmt: skip
def test_other_names_are_not(host: str) -> None:
    assert not HostRule(["sql.example.com", "*.wild.example.com"], machine="desk").allows(host)


def test_a_star_answers_to_any_name_that_is_one() -> None:
    assert HostRule(["*"], machine="desk").allows("evil.io")
    assert not HostRule(["*"], machine="desk").allows("a b")


def test_by_itself_the_machines_own_name_is_known() -> None:
    import socket

    assert HostRule([]).allows(socket.gethostname())
    assert read_host("[FE80::1]:80") == "fe80::1"


@pytest.mark.parametrize(
    ("origin", "host", "allowed"),
    [
        (None, "h", True),
        ("http://h", "h", True),
        ("https://h:8000", "h:8000", True),
        ("http://H:1", "h:1", True),
        ("https://app.example.com", "h", True),
        ("http://app.example.com", "h", False),
        ("https://app.example.com:444", "h", False),
        ("http://h:1", "h:2", False),
        ("http://evil.io", "h", False),
        ("null", "h", False),
        ("", "h", False),
        ("http://h, http://h", "h", False),
        ("file://h", "h", False),
        ("h", "h", False),
    ],
)
def test_only_own_and_listed_pages_ask(origin: str | None, host: str, allowed: bool) -> None:
    assert OriginRule(["https://app.example.com"]).allows(origin, host) is allowed
