"""A job that is killed at eight random moments has the results of one that was not."""

from __future__ import annotations

import os
import pickle
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from serve_app.batch.figures import ProgressReader
from serve_app.batch.job import Job
from serve_app.composition.wiring import Wiring
from tests.conftest import ROOT
from tests.serve_app.batch.jobs import build_job, build_questions, read_rows

_KILLS = 8
_QUESTIONS = 600
_LONGEST_S = 900
# What is killed, as its command line begins: an actor that answers, an engine, a node; or the
# process that runs the job.
_VICTIMS = {
    "worker": "ray::MapWorker",
    "engine": "ray::BatchEngine",
    "node": "raylet",
    "driver": "",
}


class Driver:
    """A process that runs the job, and all that it starts."""

    def __init__(self, wiring: Path, job: Job) -> None:
        self._log = open(f"{job.output.path}.log", "ab")  # noqa: SIM115
        self.process = psutil.Popen(
            [sys.executable, "-m", "tests.serve_app.batch.drive", str(wiring), job.output.path],
            cwd=ROOT,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def kill(self, victim: str, rng: random.Random) -> bool:
        """Kills a process of that kind, if there is one."""
        found = [self.process] if victim == "driver" else list(self._find(_VICTIMS[victim]))
        if not found:
            return False
        try:
            rng.choice(found).send_signal(signal.SIGKILL)
        except psutil.NoSuchProcess:
            return False
        return True

    def is_running(self) -> bool:
        """Whether the job's process is there."""
        return self.process.poll() is None

    def stop(self) -> None:
        """Kills what is left of it."""
        for process in self._list():
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue
        self.process.wait(30)
        self._log.close()

    def _find(self, beginning: str) -> Iterator[psutil.Process]:
        for process in self._list():
            try:
                command = " ".join(process.cmdline())
            except psutil.NoSuchProcess:
                continue
            name = os.path.basename(command.split(" ", 1)[0])
            if command.startswith(beginning) or name == beginning:
                yield process

    def _list(self) -> list[psutil.Process]:
        """All processes of the driver's session, also those whose parent is gone."""
        found = []
        for process in psutil.process_iter():
            try:
                if os.getsid(process.pid) == self.process.pid:
                    found.append(process)
            except (ProcessLookupError, psutil.NoSuchProcess):
                continue
        return found


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_eight_kills_leave_the_results_of_an_unbroken_run(wiring: Wiring, tmp_path: Path) -> None:
    rng = random.Random(int(os.environ.get("QUORUMSQL_TEST_SEED", "1")))
    stored = tmp_path / "wiring.pickle"
    stored.write_bytes(pickle.dumps(wiring))
    unbroken = build_job(tmp_path / "unbroken", *build_questions(_QUESTIONS))
    run_to_the_end(Driver(stored, unbroken))

    killed = build_job(tmp_path / "killed", *build_questions(_QUESTIONS))
    victims = [*_VICTIMS, *_VICTIMS]
    rng.shuffle(victims)
    assert len(victims) == _KILLS
    # Random moments: each kill comes when so many questions have rows.
    moments = sorted(rng.randrange(_QUESTIONS * 3 // 4) for _ in victims)
    driver = Driver(stored, killed)
    reader = ProgressReader(killed)
    starts = 1
    try:
        for victim, moment in zip(victims, moments, strict=True):
            deadline = time.monotonic() + _LONGEST_S
            while reader.read().done < moment or not driver.kill(victim, rng):
                assert time.monotonic() < deadline, f"the job hangs before {victim} at {moment}"
                if not driver.is_running():
                    driver.stop()
                    driver = Driver(stored, killed)
                    starts += 1
                time.sleep(rng.random() / 5)
            print(time.strftime("%X"), f"{victim} killed at {reader.read().render()}", flush=True)
        while not reader.read().is_complete:
            assert time.monotonic() < deadline, "the job hangs at its end"
            if not driver.is_running():
                driver.stop()
                driver = Driver(stored, killed)
                starts += 1
            time.sleep(0.5)
        driver.process.wait(_LONGEST_S)
    finally:
        driver.stop()
    print(f"{starts} starts")
    run_to_the_end(Driver(stored, killed))

    assert not killed.list_open_blocks()
    ids = [row["id"] for row in read_rows(killed, "id")]
    assert len(ids) == len(set(ids)) == _QUESTIONS
    assert read_rows(killed) == read_rows(unbroken)


def run_to_the_end(driver: Driver) -> None:
    """The job is complete after this."""
    try:
        assert driver.process.wait(_LONGEST_S) == 0
    finally:
        driver.stop()
