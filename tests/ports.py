"""Ports for the services of a test session, so that two sessions on one machine do not meet."""

from __future__ import annotations

import os
import socket
from contextlib import suppress


def choose_port() -> int:
    """A port on which nobody listens, above Ray's and below those that the system hands out."""
    for port in range(20_000 + os.getpid() % 10_000, 32_000):
        with suppress(OSError), socket.socket() as free:
            free.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no port is free")
