"""Ends an engine's processes after the process that started them has ended in any way.

vLLM runs its engine in child processes. A parent that is killed (SIGKILL, or out of memory) cannot
stop them, and they would keep their memory. Therefore a small process holds the other end of a
pipe: when the pipe closes, the parent has ended, and the watcher kills what is left of the engine.

This file is also the watcher's program: it is run by its path and imports nothing of the product.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress

import psutil


def find_children() -> dict[int, float]:
    """Process id → creation time, for all descendants of this process."""
    return dict(_describe(psutil.Process().children(recursive=True)))


def watch_processes(started: dict[int, float]) -> subprocess.Popen[bytes]:
    """Starts a watcher of these processes. Closing its ``stdin`` ends them and the watcher."""
    return subprocess.Popen(
        [sys.executable, __file__, *(f"{pid}:{since}" for pid, since in started.items())],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # The parent handles Ctrl-C.
        start_new_session=True,
    )


def _describe(processes: Iterable[psutil.Process]) -> Iterator[tuple[int, float]]:
    for process in processes:
        with suppress(psutil.Error):
            # Python's resource tracker ends by itself, after it has freed shared resources.
            if not any("resource_tracker" in part for part in process.cmdline()):
                yield process.pid, process.create_time()


def _kill(pid: int, since: float) -> None:
    with suppress(psutil.Error):
        process = psutil.Process(pid)
        # The system may have reused the process id.
        if process.create_time() == since:
            for victim in (*process.children(recursive=True), process):
                with suppress(psutil.Error):
                    victim.kill()


def _main() -> None:
    sys.stdin.buffer.read()
    for argument in sys.argv[1:]:
        pid, _, since = argument.partition(":")
        _kill(int(pid), float(since))


if __name__ == "__main__":
    _main()
