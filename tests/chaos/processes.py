"""The processes of the service."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psutil

PROXY, CONTROLLER = "ray::ProxyActor", "ray::ServeController"


def find_processes(name: str) -> list[psutil.Process]:
    """Those below this one whose command line holds ``name``."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if any(name in part for part in process.cmdline()):
                found.append(process)
    return found


def is_alive(process: psutil.Process) -> bool:
    """Whether it may still do anything."""
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def find_process(title: str) -> psutil.Process:
    """The only process of the service with that title. Raises AssertionError if there is none."""
    (process,) = find_processes(title)
    return process


def find_replica(name: str) -> psutil.Process:
    """The process of a deployment's only replica. Raises AssertionError if there is none."""
    return find_process(f"quorumsql:{name}")


@contextmanager
def killed(process: psutil.Process) -> Iterator[None]:
    """The process is killed, for good."""
    process.kill()
    yield


@contextmanager
def stopped(process: psutil.Process) -> Iterator[None]:
    """The process is stopped (SIGSTOP), and nobody makes it go on."""
    process.send_signal(signal.SIGSTOP)
    yield
