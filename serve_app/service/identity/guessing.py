"""Limits how many wrong tokens a client may try to sign in with, in one process."""

from __future__ import annotations

import ipaddress
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cachetools import LRUCache

from nl2sql.errors import LimitReached, Unauthenticated

MOST_FAILURES = 10
PAUSE_S = 60.0
# Others are forgotten, so that many addresses cannot fill the memory.
_MOST_CLIENTS = 10_000
# Whoever has one address of IPv6 has a whole network of this size.
_NETWORK_BITS = 64


class GuessLimit:
    """After ten failures, a client waits for a minute from the last of them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        # A client → how often it failed, and when it failed last.
        self._failures: LRUCache[str, tuple[int, float]] = LRUCache(_MOST_CLIENTS)

    @contextmanager
    def attempt(self, address: str) -> Iterator[None]:
        """An attempt of a client with that address, which fails if it raises Unauthenticated.

        Raises LimitReached if the client may not try now.
        """
        client, now = _name_client(address), self._clock()
        count, last = self._failures.get(client, (0, now))
        wait_s = last + PAUSE_S - now
        if wait_s <= 0:
            count = 0
        elif count >= MOST_FAILURES:
            raise LimitReached(
                "Too many attempts to sign in have failed.",
                retry_after_s=wait_s,
                hint=f"Try again in {math.ceil(wait_s)} seconds.",
            )
        # Counted before the outcome is known: many attempts may be made at once.
        self._failures[client] = (count + 1, now)
        has_failed = False
        try:
            yield
        except Unauthenticated:
            has_failed = True
            raise
        finally:
            if not has_failed:
                count, last = self._failures.get(client, (1, now))
                self._failures[client] = (max(count - 1, 0), last)


def _name_client(address: str) -> str:
    """The address, or its network where clients have many addresses.

    >>> _name_client("192.0.2.7"), _name_client("2001:db8:1:2:3::4"), _name_client("")
    ('192.0.2.7', '2001:db8:1:2::/64', '')
    """
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if found.version == 4:
        return str(found)
    return str(ipaddress.ip_network((found, _NETWORK_BITS), strict=False))
