"""The PostgreSQL of the data or of the index fails."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

from tests.chaos.servers import Server
from tests.chaos.service import Service

pytestmark = pytest.mark.timeout(600)

FAULTS: dict[str, tuple[Callable[[Server], AbstractContextManager[None]], float]] = {
    "kill -9, started again after 5 s": (Server.killed, 5.0),
    "network cut for 20 s": (Server.silent, 20.0),
    "connections exhausted for 15 s": (Server.exhausted, 15.0),
}


# What CI runs too.
_SHORT = {("data", "kill -9, started again after 5 s"), ("data", "network cut for 20 s")}


@pytest.mark.parametrize(
    ("which", "fault"),
    [
        pytest.param(which, fault, marks=[pytest.mark.long] if (which, fault) in _SHORT else [])
        for which in ("data", "index")
        for fault in FAULTS
    ],
)
def test_a_database_fails_and_comes_back(service: Service, which: str, fault: str) -> None:
    server: Server = getattr(service, which)
    build, hold_s = FAULTS[fault]
    service.break_under_load(f"PostgreSQL of the {which}: {fault}", build(server), hold_s=hold_s)
