"""Continues a job in a process of its own, on a Ray of two nodes: ``drive WIRING OUTPUT``.

``WIRING`` is a pickled wiring. Tests kill this process, its actors and its nodes.
"""

from __future__ import annotations

import os
import pickle
import sys
from pathlib import Path

import ray
from ray.cluster_utils import Cluster

from serve_app.batch.job import open_job
from serve_app.batch.running import Sizes, run_job
from serve_app.batch.storage import open_folder
from serve_app.composition.wiring import Wiring
from tests.serve_app.batch.engines import build_echo

# Logical CPUs, so that one node alone holds the whole job.
_NODE_CPUS = 6
_STORE_BYTES = 100 * 2**20


def main() -> None:
    """Runs the job until every question has a row."""
    wiring: Wiring = pickle.loads(Path(sys.argv[1]).read_bytes())
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    cluster = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": _NODE_CPUS, "object_store_memory": _STORE_BYTES},
    )
    cluster.add_node(num_cpus=_NODE_CPUS, object_store_memory=_STORE_BYTES)
    ray.init(address=cluster.address, log_to_driver=False, configure_logging=False)
    try:
        run_job(
            open_job(open_folder(sys.argv[2])),
            wiring,
            Sizes(workers=(2, 2), engines=2, questions_at_once=4),
            build_engine=build_echo,
        )
    finally:
        ray.shutdown()
        cluster.shutdown()


if __name__ == "__main__":
    main()
