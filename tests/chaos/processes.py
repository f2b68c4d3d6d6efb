"""The processes of the service, and what they hold."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

STAGES = "retriever planner executor ranker repairer".split()
REPLICAS = ("engine", "ingress", *STAGES)


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


def count_processes() -> Counter[str]:
    """Processes of the service by kind; Ray keeps a varying number of idle ones."""
    kinds = (*(f"quorumsql:{name}" for name in REPLICAS), PROXY, CONTROLLER)
    return Counter({kind: len(find_processes(kind)) for kind in kinds})


def count_files() -> Counter[str]:
    """Open file handles of each deployment's replica, and of what serves them."""
    counts: Counter[str] = Counter()
    titles = {name: f"quorumsql:{name}" for name in REPLICAS} | {
        name: name for name in (PROXY, CONTROLLER, "raylet/raylet", "gcs_server")
    }
    for name, title in titles.items():
        for process in find_processes(title):
            with suppress(psutil.Error):
                counts[name] += process.num_fds()
    return counts


def count_shared_memory() -> int:
    """Segments of shared memory that the service's processes have mapped."""
    found = set()
    for process in psutil.Process().children(recursive=True):
        with suppress(OSError):
            for line in Path(f"/proc/{process.pid}/maps").read_text().splitlines():
                if "/dev/shm/" in line:
                    found.add(line.partition("/dev/shm/")[2])
    return len(found)
