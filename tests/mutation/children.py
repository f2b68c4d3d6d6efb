"""Runs one piece of work in a fork of this process, with a limit on its time."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from typing import Any


class OutOfTime(Exception):
    """The fork did not end by itself."""


def run_in_fork(work: Callable[[], Any], limit_s: float) -> Any:
    """What ``work`` returns, through JSON. Raises OutOfTime, and RuntimeError where the fork fails.

    The fork prints nothing, has a temporary folder of its own, and ends without tearing down.
    """
    folder = tempfile.mkdtemp(
        prefix="mutant-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None
    )
    reader, writer = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        _work(work, writer, folder)
    os.close(writer)
    try:
        text = _read_all(reader, time.monotonic() + limit_s)
    finally:
        os.close(reader)
        # Whatever it started is in its process group.
        _kill_group(child)
        os.waitpid(child, 0)
        shutil.rmtree(folder, ignore_errors=True)
    if not text:
        raise RuntimeError("The fork ended without a result.")
    return json.loads(text)


def _work(work: Callable[[], Any], writer: int, folder: str) -> None:
    os.setsid()
    tempfile.tempdir = folder
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    try:
        text = json.dumps(work())
    except BaseException:
        text = json.dumps({"error": traceback.format_exc()})
    with os.fdopen(writer, "w") as pipe:
        pipe.write(text)
    os._exit(0)


def _read_all(reader: int, deadline: float) -> str:
    parts: list[bytes] = []
    while True:
        ready, _, _ = select.select([reader], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            raise OutOfTime
        part = os.read(reader, 65536)
        if not part:
            return b"".join(parts).decode()
        parts.append(part)


def _kill_group(child: int) -> None:
    try:
        os.killpg(child, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        # It has ended, or died before it had a group.
        try:
            os.kill(child, signal.SIGKILL)
        except ProcessLookupError:
            return
