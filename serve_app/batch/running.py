"""Runs a job on Ray Data: a pool of actors asks blocks of questions and writes their rows.

The blocks without results are asked, so that the same job can be run again after any interruption.
Ray holds back blocks when workers have enough of them.
"""

from __future__ import annotations

import logging
import math
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

import filelock
import numpy as np
import ray
from ray.data import ActorPoolStrategy, DataContext

from nl2sql.errors import QuorumError, SettingsError, Unavailable
from serve_app.batch.asking import AnswerQuestions, WorkerPlan
from serve_app.batch.figures import BatchProgress, ProgressReader
from serve_app.batch.job import Job
from serve_app.ray.starting import LOCAL, connect_ray, find_address
from serve_app.settings import Settings

# Logical CPUs, for placement only: a worker waits for the service.
_WORKER_CPUS = 0.1
# Blocks that a worker answers at the same time: one begins before the last questions of another
# are answered.
_BLOCKS_AT_ONCE = 2
_BLOCKS_AHEAD = 1
# For each worker, in a small job.
_LEAST_BLOCKS = 4
_BLOCK_ROWS = 32
_MOST_BLOCKS = 2000


Follow = Callable[[BatchProgress], None]


def choose_block_rows(total: int, workers: int) -> int:
    """The questions of a block, which are written together: not too many files.

    Fewer where some workers would get none otherwise.

    >>> [choose_block_rows(total, 2) for total in (20, 5000, 10**6)]
    [3, 32, 500]
    """
    wanted = max(_BLOCK_ROWS, math.ceil(total / _MOST_BLOCKS))
    return min(wanted, math.ceil(total / (workers * _LEAST_BLOCKS)))


def run_job(
    job: Job,
    settings: Settings,
    url: str,
    *,
    workers: int = 1,
    questions_at_once: int = 16,
    follow: Follow = lambda progress: None,
    interval_s: float = 5.0,
) -> BatchProgress:
    """Has the service at ``url`` answer the questions that have no row; returns the progress.

    Each of the ``workers``, which are processes, asks ``questions_at_once``.
    ``follow`` is called with the progress every ``interval_s``. Raises SettingsError; Unavailable
    if Ray fails, and then the job can be continued.
    """
    reader = ProgressReader(job)
    # A second run is kept away if the folder is on this machine.
    folder = (job.output / "_batch").local_path
    try:
        with filelock.FileLock(f"{folder}/lock", timeout=0) if folder else nullcontext():
            if job.list_open_blocks():
                plan = WorkerPlan(settings, job, url, questions_at_once)
                with start_ray(workers * _WORKER_CPUS), _followed(reader, follow, interval_s):
                    _run(plan, workers)
    except filelock.Timeout as error:
        raise SettingsError(f"{job.output.path} is in use by another run of this job.") from error
    progress = reader.read()
    follow(progress)
    return progress


@contextmanager
def start_ray(needed_cpus: float) -> Iterator[None]:
    """Joins the cluster of RAY_ADDRESS, or starts Ray on this machine until the block ends.

    ``needed_cpus`` are logical: everything fits, however few cores there are. A Ray that this
    program has started already is used as it is. Raises Unavailable.
    """
    if ray.is_initialized():
        yield
        return
    address = find_address()
    # Ray gives its processes a low priority, which a user can do with the whole command.
    os.environ.setdefault("RAY_worker_niceness", "0")
    # Ray's core reports on the terminal, as an error, that it could not restart a worker whose
    # arguments are lost. They are kept by this process, without which there is no job.
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    options: dict[str, Any] = {"logging_level": logging.ERROR}
    if address == LOCAL:
        # Ray starts a process for each CPU at once, so that more than are used delay the job.
        options |= {"num_cpus": math.ceil(needed_cpus), "include_dashboard": False}
    connect_ray(address, **options)
    try:
        yield
    finally:
        ray.shutdown()


def _run(plan: WorkerPlan, workers: int) -> None:
    # Ray Data writes on the terminal otherwise.
    DataContext.get_current().enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    blocks = plan.job.list_open_blocks()
    # The workers read the questions, so that Ray needs no processes but theirs.
    numbers = ray.data.from_numpy([np.array([number]) for number in blocks])
    answered = numbers.map_batches(
        AnswerQuestions,
        fn_constructor_args=(plan,),
        batch_size=None,
        num_cpus=_WORKER_CPUS,
        compute=ActorPoolStrategy(
            size=workers,
            max_concurrent_calls_per_actor=_BLOCKS_AT_ONCE,
            max_tasks_in_flight_per_actor=_BLOCKS_AT_ONCE + _BLOCKS_AHEAD,
            enable_true_multi_threading=True,
        ),
    )
    answered.set_name("quorumsql-batch")
    try:
        answered.materialize()
    except QuorumError:
        raise
    except Exception as error:  # whatever Ray raises, complete results are kept
        raise find_cause(error) from error


def find_cause(error: BaseException) -> QuorumError:
    """Our own error behind one of Ray's, or one that says that the job was interrupted."""
    cause: BaseException | None = error
    seen: set[int] = set()
    while cause is not None and id(cause) not in seen:
        if isinstance(cause, QuorumError):
            return cause
        seen.add(id(cause))
        cause = getattr(cause, "cause", None) or cause.__cause__
    lines = [line for line in str(error).strip().splitlines() if line.strip()]
    return Unavailable(
        f"The job was interrupted: {lines[-1].strip() if lines else type(error).__name__}",
        hint="What is complete is kept; the same command goes on from there.",
    )


@contextmanager
def _followed(reader: ProgressReader, follow: Follow, interval_s: float) -> Iterator[None]:
    """Calls ``follow`` every ``interval_s`` until the block ends."""
    ended = threading.Event()

    def report() -> None:
        while not ended.wait(interval_s):
            with suppress(OSError, SettingsError):  # a file that is just being replaced
                follow(reader.read())

    thread = threading.Thread(target=report, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
