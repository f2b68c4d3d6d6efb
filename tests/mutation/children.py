"""Runs one piece of work in a fork of this process, with a limit on its time."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import signal
import tempfile
import traceback
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

_FORK = multiprocessing.get_context("fork")


class OutOfTime(Exception):
    """The fork did not end within its time."""


def run_in_fork(work: Callable[[], Any], limit_s: float) -> Any:
    """What ``work`` returns, through JSON. Raises OutOfTime, and RuntimeError where the fork fails.

    The fork prints nothing, has a temporary folder of its own, and ends without tearing down.
    """
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    folder = tempfile.mkdtemp(prefix="mutant-", dir=memory)
    reader, writer = _FORK.Pipe(duplex=False)
    child = _FORK.Process(target=_work, args=(work, writer, folder))
    child.start()
    writer.close()
    try:
        if not reader.poll(limit_s):
            raise OutOfTime
        return json.loads(reader.recv_bytes())
    except EOFError as error:
        raise RuntimeError("The fork ended without a result.") from error
    finally:
        reader.close()
        _kill(child.pid)
        child.join()
        shutil.rmtree(folder, ignore_errors=True)


def _work(work: Callable[[], Any], writer: Connection, folder: str) -> None:
    os.setsid()
    tempfile.tempdir = folder
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    try:
        text = json.dumps(work())
    except BaseException:
        text = json.dumps({"error": traceback.format_exc()})
    writer.send_bytes(text.encode())
    os._exit(0)


def _kill(child: int | None) -> None:
    """Ends the fork, and what it started: all of that is in its process group."""
    assert child is not None
    # It has ended, or died before it had a group.
    with suppress(ProcessLookupError, PermissionError):
        os.kill(child, signal.SIGKILL)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
