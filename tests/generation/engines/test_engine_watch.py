"""What an engine started does not outlive the process that started it."""

from __future__ import annotations

import subprocess
import sys

import psutil
import pytest

from generation.engines.engine_watch import watch_processes
from tests.conftest import ROOT
from tests.waiting import wait_for

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
    assert wait_for(lambda: not is_running(engine) and not is_running(watcher))


def test_a_process_that_got_the_same_id_is_left_alone() -> None:
    other = subprocess.Popen(["sleep", "120"])
    try:
        watcher = watch_processes({other.pid: 1.0})
        watcher.communicate(timeout=60)
        assert is_running(other.pid)
    finally:
        other.kill()
        other.wait()
