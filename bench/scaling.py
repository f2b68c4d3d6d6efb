"""How the rate of answers grows with the nodes of a cluster.

    python -m bench.scaling [--nodes 1,2,4] [--seconds 60]

Starts clusters of a head and so many workers, each on a host of its own (a network namespace, so it
needs root). On each worker run a replica of the engine and one of the ingress with all CPU stages.
The model beside each engine takes one second of wall time for an answer and answers one request at
a time, without costing processor time: a node can give one answer a second, whatever the machine.
Eight clients for each node ask its proxy without a pause; the engine of any node may answer.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import yaml

from bench.slow_model import NAME
from data.demo_erp import MODULES, SCHEMA_SQL
from data.demo_erp.rows import read_tables
from execution.postgres.embedded import INDEX_DATABASE, INDEXER, READER, EmbeddedServer
from nl2sql.settings import parse_settings
from serve_app.composition.wiring import Wiring
from serve_app.operations.indexing import index_databases
from serve_app.operations.preparation import demo_version
from serve_app.reporting import Silence
from tests.deploy.cluster import Cluster, run_cluster
from tests.deploy.hosts import open_hosts, why_no_hosts
from tests.deploy.manifests import find, find_settings

_CLIENTS = 8
_WARM_UP_S = 15.0
_TIMEOUT_S = 120.0
_MODEL_PORT = 9000
_DATABASE = "demo_erp"


def main(nodes: list[int], seconds: float) -> None:
    """Prints a row for each size of the cluster."""
    if reason := why_no_hosts():
        sys.exit(reason)
    print("nodes | answers | a second | times one node's | other replies | load", flush=True)
    first = 0.0
    with _prepared() as (home, settings):
        for count in nodes:
            with _running(home / f"of{count}", settings, count) as cluster:
                replies = _ask(cluster, seconds)
            rate = replies[200] / seconds
            first = first or rate / count
            others = {status: number for status, number in replies.items() if status != 200}
            load = os.getloadavg()[0]
            print(
                f"{count} | {replies[200]} | {rate:.2f} | {rate / first:.2f} | {others or 'none'}"
                f" | {load:.1f}",
                flush=True,
            )


@contextmanager
def _prepared() -> Iterator[tuple[Path, dict[str, Any]]]:
    """A folder with the demo's server running in it, indexed; and the settings."""
    # A short path: sockets of Ray lie below it.
    with tempfile.TemporaryDirectory(prefix="qs-", dir="/tmp", ignore_cleanup_errors=True) as name:
        home = Path(name)
        home.chmod(0o755)
        server = EmbeddedServer(home / "postgres")
        server.start()
        try:
            settings = _build_settings(home, server)
            parsed = parse_settings(settings)
            schema = SCHEMA_SQL.read_text(encoding="utf-8")
            server.load(_DATABASE, schema, read_tables(), version=demo_version())
            asyncio.run(index_databases(Wiring(parsed), [_DATABASE], Silence()))
            yield home, settings
        finally:
            server.stop()


def _build_settings(home: Path, server: EmbeddedServer) -> dict[str, Any]:
    settings: dict[str, Any] = yaml.safe_load(find_settings("cpu"))
    return settings | {
        "home": str(home),
        "default_database": _DATABASE,
        "databases": {
            _DATABASE: {
                "reader": {"url": server.url(_DATABASE, READER)},
                "indexer": {"url": server.url(_DATABASE, INDEXER)},
                "schemas": list(MODULES),
                "values": {"enabled": False},
            }
        },
        "index": {"connection": {"url": server.url(INDEX_DATABASE, INDEXER)}, "infer_keys": False},
        "identity": {},
        "model": {
            "engine": "openai",
            "served_name": NAME,
            "base_url": f"http://127.0.0.1:{_MODEL_PORT}/v1",
        },
        "flags": {"intent_gate": False},
        "ranking": {"min_confidence": 0.0},
        "limits": {"request_timeout_ms": int(_TIMEOUT_S * 1000)},
        # Questions wait longer than in an idle service, on purpose.
        "serve": {"host": "0.0.0.0", "allow_anonymous": True, "max_slowdown": 1000.0},
    }


@contextmanager
def _running(folder: Path, settings: dict[str, Any], nodes: int) -> Iterator[Cluster]:
    folder.mkdir()
    file = folder / "settings.yaml"
    file.write_text(yaml.safe_dump(settings))
    with ExitStack() as stack:
        hosts = stack.enter_context(open_hosts())
        cluster = stack.enter_context(
            run_cluster(_build_rayservice(nodes), file, {}, folder, hosts)
        )
        for pod in cluster.workers:
            assert pod.host is not None
            model = [sys.executable, "-m", "bench.slow_model", str(_MODEL_PORT)]
            # They end with their hosts.
            subprocess.Popen(pod.host.wrap(model))
        yield cluster


def _build_rayservice(nodes: int) -> Any:
    """That of the overlay for CPUs, with the engine's pods alone, and as many replicas."""
    rayservice = find("cpu", "RayService")
    spec = rayservice["spec"]["rayClusterConfig"]
    spec.pop("gcsFaultToleranceOptions")
    (group,) = (group for group in spec["workerGroupSpecs"] if group["groupName"] == "engine")
    spec["workerGroupSpecs"] = [{**group, "replicas": nodes}]
    config = yaml.safe_load(rayservice["spec"]["serveConfigV2"])
    config["applications"][0]["deployments"] = [
        {
            "name": name,
            "num_replicas": nodes,
            "max_replicas_per_node": 1,
            "ray_actor_options": {"num_cpus": 1, "label_selector": {"quorumsql.io/pool": "engine"}},
        }
        for name in ("ingress", "engine")
    ]
    rayservice["spec"]["serveConfigV2"] = yaml.safe_dump(config)
    return rayservice


def _ask(cluster: Cluster, seconds: float) -> Counter[int]:
    """Replies by status that came in so many seconds after the warm-up; 0: broken off."""
    replies: list[tuple[float, int]] = []
    start = time.monotonic()
    end = start + _WARM_UP_S + seconds

    def ask(url: str, name: str) -> None:
        with httpx.Client(timeout=_TIMEOUT_S) as client:
            number = 0
            while time.monotonic() < end:
                number += 1
                # No two are the same, so that none shares the work of another.
                body = {"question": f"How many employees are there, {name} {number}?", "k": 1}
                try:
                    status = client.post(f"{url}/query", json=body).status_code
                except httpx.HTTPError:
                    status = 0
                replies.append((time.monotonic(), status))

    threads = [
        threading.Thread(target=ask, args=[pod.url, f"{pod.number}-{number}"], daemon=True)
        for pod in cluster.workers
        for number in range(_CLIENTS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return Counter(status for at, status in replies if start + _WARM_UP_S <= at < end)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", default="1,2,4")
    parser.add_argument("--seconds", type=float, default=60.0)
    given = parser.parse_args()
    main([int(count) for count in given.nodes.split(",")], given.seconds)
