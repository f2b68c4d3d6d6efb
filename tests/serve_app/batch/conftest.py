"""One Ray for the jobs of a test file."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator

import pytest
import ray

_CPUS = 8


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """A Ray on this machine; workers see what is in the environment now."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray.init(
        address="local",
        num_cpus=_CPUS,
        include_dashboard=False,
        log_to_driver=False,
        logging_level=logging.ERROR,
    )
    yield
    ray.shutdown()
