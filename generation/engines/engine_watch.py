"""Ends an engine's processes when the process that started them is gone, however it went.

vLLM runs its engine in processes of its own. A parent that is killed (SIGKILL, or out of memory)
cannot stop them, and they would keep their gigabytes for ever. A small process holds the other end
of a pipe: when it closes, the parent is gone or done, and what is left of the engine is killed.

This file is also the program that watches: it is run by its path and imports nothing of ours.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress

import psutil


def find_children() -> dict[int, float]:
    """Process id → creation time of all that this process has started, and they in turn."""
    return dict(_describe(psutil.Process().children(recursive=True)))


def watch_processes(started: dict[int, float]) -> subprocess.Popen[bytes]:
    """Starts the watcher of these processes. Closing its ``stdin`` ends them, and it."""
    return subprocess.Popen(
        [sys.executable, __file__, *(f"{pid}:{since}" for pid, since in started.items())],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # A Ctrl-C is the parent's to handle.
        start_new_session=True,
    )


def _describe(processes: Iterable[psutil.Process]) -> Iterator[tuple[int, float]]:
    for process in processes:
        with suppress(psutil.Error):
            # Python's own tracker ends by itself, after it has freed what others left shared.
            if not any("resource_tracker" in part for part in process.cmdline()):
                yield process.pid, process.create_time()


def _kill(pid: int, since: float) -> None:
    with suppress(psutil.Error):
        process = psutil.Process(pid)
        # A process id is given again to others.
        if process.create_time() == since:
            for each in (*process.children(recursive=True), process):
                with suppress(psutil.Error):
                    each.kill()


def _main() -> None:
    sys.stdin.buffer.read()
    for argument in sys.argv[1:]:
        pid, _, since = argument.partition(":")
        _kill(int(pid), float(since))


if __name__ == "__main__":
    _main()
