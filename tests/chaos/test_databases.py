"""The PostgreSQL of the data or of the index fails, or its disk is full."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from tests.chaos.servers import Server
from tests.chaos.service import Service

pytestmark = pytest.mark.timeout(600)

FAULTS: dict[str, tuple[Callable[[Server], AbstractContextManager[None]], float]] = {
    "kill -9, started again after 5 s": (Server.killed, 5.0),
    "SIGSTOP for 20 s": (Server.stopped, 20.0),
    "network cut for 20 s": (Server.silent, 20.0),
    "2 s for each message, for 20 s": (lambda server: server.slow(2.0), 20.0),
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


_HOLD_S = 10.0


@contextmanager
def full(folder: Path) -> Iterator[None]:
    """Nothing more can be written to the file system of the folder until the end of the block."""
    if not folder.is_mount():
        pytest.skip("file systems cannot be mounted here")
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (2**20, 1):
            try:
                while file.write(bytes(size)):
                    pass
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
    try:
        yield
    finally:
        filler.unlink()


@pytest.mark.parametrize("which", ["data", "index"])
def test_the_disk_of_a_database_is_full(service: Service, which: str) -> None:
    """Questions only read data and index, apart from what conversations remember."""
    server: Server = getattr(service, which)
    disk = server.server.folder.parent
    service.break_under_load(f"disk of the {which} full", full(disk), hold_s=_HOLD_S)
