"""What an engine started does not outlive the process that started it."""

from __future__ import annotations

import subprocess
import sys
import time

import psutil
import pytest

from generation.engines.engine_watch import watch_processes
from tests.conftest import ROOT

# Starts a process, has it watched, says its id, and waits to be killed, or ends by itself.
PARENT = """
import subprocess, sys, time
from generation.engines.engine_watch import find_children, watch_processes
engine = subprocess.Popen(["sleep", "120"])
watcher = watch_processes(find_children())
print(engine.pid, watcher.pid, flush=True)
time.sleep(float(sys.argv[1]))
"""


def is_running(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def wait_until_gone(*pids: int) -> bool:
    deadline = time.monotonic() + 20
    while any(map(is_running, pids)):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


@pytest.mark.parametrize("killed", [True, False], ids=["killed", "ends"])
def test_the_engine_ends_with_its_parent(killed: bool) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, "60" if killed else "0"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    assert parent.stdout is not None
    engine, watcher = map(int, parent.stdout.readline().split())
    if killed:
        assert is_running(engine)
        parent.kill()
    parent.wait()
    assert wait_until_gone(engine, watcher)


def test_a_process_that_got_the_same_id_is_left_alone() -> None:
    other = subprocess.Popen(["sleep", "120"])
    try:
        watcher = watch_processes({other.pid: 1.0})
        watcher.communicate(timeout=20)
        assert is_running(other.pid)
    finally:
        other.kill()
        other.wait()
