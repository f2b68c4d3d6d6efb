"""Whoever tries many wrong tokens has to wait, and nobody else."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from nl2sql.errors import LimitReached, Unauthenticated, Unavailable
from serve_app.service.identity.sign_ins import MOST_FAILURES, PAUSE_S, GuessLimit


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def fail(limit: GuessLimit, address: str, times: int = 1) -> None:
    for _ in range(times):
        with pytest.raises(Unauthenticated), limit.attempt(address):
            raise Unauthenticated("Wrong.")


def is_refused(limit: GuessLimit, address: str) -> bool:
    try:
        with limit.attempt(address):
            return False
    except LimitReached:
        return True


def test_a_client_waits_for_a_minute_from_its_last_failure() -> None:
    clock = Clock()
    limit = GuessLimit(clock)
    fail(limit, "192.0.2.1", MOST_FAILURES - 1)
    assert not is_refused(limit, "192.0.2.1")
    clock.now += PAUSE_S - 1
    fail(limit, "192.0.2.1")
    clock.now += 15
    with pytest.raises(LimitReached) as caught, limit.attempt("192.0.2.1"):
        raise AssertionError
    assert caught.value.retry_after_s == PAUSE_S - 15
    clock.now += PAUSE_S - 15
    assert not is_refused(limit, "192.0.2.1")
    fail(limit, "192.0.2.1", MOST_FAILURES)
    assert is_refused(limit, "192.0.2.1")


def test_others_do_not_wait() -> None:
    limit = GuessLimit()
    fail(limit, "192.0.2.1", MOST_FAILURES)
    assert not is_refused(limit, "192.0.2.2")


def test_a_network_of_ipv6_is_one_client() -> None:
    limit = GuessLimit()
    for number in range(MOST_FAILURES):
        fail(limit, f"2001:db8::{number:x}")
    assert is_refused(limit, "2001:db8::ffff")
    assert not is_refused(limit, "2001:db8:0:1::1")


def raise_unavailable() -> None:
    raise Unavailable("Down.")


@pytest.mark.parametrize("work", [lambda: None, raise_unavailable], ids=["success", "unavailable"])
def test_what_is_no_failure_is_not_counted(work: Callable[[], None]) -> None:
    limit = GuessLimit()
    for _ in range(3 * MOST_FAILURES):
        try:
            with limit.attempt("192.0.2.1"):
                work()
        except Unavailable:
            pass
    assert not is_refused(limit, "192.0.2.1")


def test_attempts_at_the_same_time_count_before_they_end() -> None:
    limit = GuessLimit()
    open_attempts = [limit.attempt("192.0.2.1") for _ in range(MOST_FAILURES)]
    for attempt in open_attempts:
        attempt.__enter__()
    assert is_refused(limit, "192.0.2.1")
    for attempt in open_attempts:
        attempt.__exit__(None, None, None)
    assert not is_refused(limit, "192.0.2.1")
