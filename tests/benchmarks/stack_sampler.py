"""Profiles this process with py-spy, which samples the stacks of its threads.

Waiting threads are left out, so the shares approximate those of processor time. Only Python
functions are listed: time in a library counts for the function that called it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sysconfig
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_RATE_HZ = 400
# Functions in which threads wait, which py-spy does not always detect.
_WAITING = ("_worker (concurrent", "Condition.wait (threading", "EpollSelector.select (selectors")


class Profile:
    """How many samples found a function anywhere on a stack (``within``), and on top (``own``)."""

    def __init__(self) -> None:
        self.samples = 0
        self.within: Counter[str] = Counter()
        self.own: Counter[str] = Counter()

    def add(self, folded: str) -> None:
        """Reads one line of py-spy's raw form: functions from the outermost in, and a count."""
        stack, _, count = folded.rpartition(" ")
        # A function counts once per sample, at whatever lines.
        names = [name.rpartition(":")[0] + ")" for name in stack.split(";")]
        if names[-1].startswith(_WAITING):
            return
        self.samples += int(count)
        self.own[names[-1]] += int(count)
        for name in set(names):
            self.within[name] += int(count)

    def render(self, most: int, ms: float) -> str:
        """Both tables, with ``most`` rows each; all samples together are ``ms`` milliseconds."""
        lines = []
        for title, counter in (("own", self.own), ("within", self.within)):
            lines.append(f"\n| {title}, ms | share | function |\n|---|---|---|")
            for name, count in counter.most_common(most):
                share = count / self.samples
                lines.append(f"| {share * ms:.2f} | {share:.1%} | {name} |")
        return "\n".join(lines)


@contextmanager
def sampling_stacks() -> Iterator[Profile]:
    """The profile of the code inside it, filled in at the end."""
    profile = Profile()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "stacks"
        program = Path(sysconfig.get_path("scripts")) / "py-spy"
        options = ("--pid", str(os.getpid()), "--rate", str(_RATE_HZ), "--format", "raw")
        sampler = subprocess.Popen(
            [program, "record", *options, "--output", file],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield profile
        finally:
            sampler.send_signal(signal.SIGINT)
            sampler.wait()
        for line in file.read_text(encoding="utf-8").splitlines():
            profile.add(line)
