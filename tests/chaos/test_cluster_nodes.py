"""Nodes of a cluster die under load, or the network between them is cut.

Runs before the tests of this folder that start the service on one node.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml

from execution.postgres.embedded import INDEX_DATABASE, INDEXER, READER, EmbeddedServer
from nl2sql.settings import parse_settings
from serve_app.composition.wiring import Wiring
from serve_app.operations.indexing import index_databases
from serve_app.reporting import Silence
from tests.chaos.load import pick_answered
from tests.chaos.nodes import ClusterService, ReadyPods, count_processes, failed, find_process
from tests.chaos.processes import killed
from tests.chaos.questions import ASKING, open_questions
from tests.chaos.service import TIMEOUT_S, Case, describe_demo
from tests.deploy.cluster import run_cluster
from tests.deploy.hosts import open_hosts, why_no_hosts
from tests.deploy.manifests import find, find_settings
from tests.generation.engines.loopback import Reply, serve_at
from tests.generation.engines.test_openai_engine import complete
from tests.oracle.demo import DATABASE
from tests.oracle.stage import HASH_KEY
from tests.serve_app.interfaces import build_token, describe_principal

pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.skipif(not shutil.which("redis-server"), reason="needs redis-server"),
]

_CUT_S = 20.0


def echo(body: dict[str, Any]) -> Reply:
    """A model that answers a question with the question."""
    question = body["messages"][-1]["content"].rpartition("Question: ")[2]
    return complete(*[f"```sql\n{question}\n```"] * body.get("n", 1))


@pytest.fixture(scope="module")
def cluster_service(cases: list[Case]) -> Iterator[ClusterService]:
    """A head, two query pods and one of the engine, each on a host of its own."""
    if reason := why_no_hosts():
        pytest.skip(reason)
    # A short path: sockets of Ray lie below it.
    home = Path(tempfile.mkdtemp(prefix="qn-", dir="/tmp"))
    home.chmod(0o755)
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, home, ignore_errors=True)
        server = EmbeddedServer(home / "postgres")
        server.start()
        stack.callback(server.stop)
        questions, policy = open_questions(server, home)
        hosts = stack.enter_context(open_hosts())
        models = Reply({"object": "list", "data": [{"id": "echo", "object": "model"}]})
        model = stack.enter_context(
            serve_at(hosts.address, v1__chat__completions=echo, v1__models=models)
        )
        settings = build_settings(home, policy, server, f"{model.url}/v1")
        asyncio.run(index_databases(Wiring(parse_settings(settings)), [DATABASE], Silence()))
        file = home / "settings.yaml"
        file.write_text(yaml.safe_dump(settings))
        rayservice = find("cpu", "RayService")
        config = yaml.safe_load(rayservice["spec"]["serveConfigV2"])
        config["http_options"]["request_timeout_s"] = TIMEOUT_S + 2
        for deployment in config["applications"][0]["deployments"]:
            # Nobody adds pods here.
            scaling = deployment["autoscaling_config"]
            scaling["max_replicas"] = scaling["min_replicas"]
        rayservice["spec"]["serveConfigV2"] = yaml.safe_dump(config)
        tokens = {name_token(principal.name): build_token(principal.name) for principal in ASKING}
        secrets = {
            "quorumsql-query": {**tokens, "ORACLE_HASH_KEY": HASH_KEY},
            "quorumsql-redis": {"REDIS_PASSWORD": "redis-s"},
        }
        cluster = stack.enter_context(run_cluster(rayservice, file, secrets, home, hosts))
        ready = ReadyPods(cluster.workers)
        stack.callback(ready.close)
        yield ClusterService(
            questions=pick_answered(ready.find_url, questions, TIMEOUT_S),
            cases=cases,
            cluster=cluster,
            hosts=hosts,
            ready=ready,
            processes=count_processes(cluster),
        )


def build_settings(home: Path, policy: Path, server: EmbeddedServer, model: str) -> dict[str, Any]:
    """Those of the overlay, with the demo and an echoing model, and short limits."""
    settings: dict[str, Any] = yaml.safe_load(find_settings("cpu"))
    principals = {
        principal.name: {**describe_principal(principal), "token_env": name_token(principal.name)}
        for principal in ASKING
    }
    demo = describe_demo(
        server.url(DATABASE, READER),
        server.url(DATABASE, INDEXER),
        server.url(INDEX_DATABASE, INDEXER),
        policy,
    )
    own = {
        "home": str(home),
        "default_database": DATABASE,
        "identity": {"principals": principals},
        "model": {"engine": "openai", "served_name": "echo", "base_url": model},
    }
    return settings | demo | own


def name_token(principal: str) -> str:
    """The variable of a principal's token."""
    return f"TOKEN_OF_{principal.upper()}"


@pytest.mark.parametrize("group", ["query", "engine", "head"])
def test_a_node_is_cut_off(cluster_service: ClusterService, group: str) -> None:
    cluster = cluster_service.cluster
    pod = next(pod for pod in cluster.pods if pod.group == group)
    cluster_service.break_under_load(
        f"network between the {group} pod and all others cut for {_CUT_S:.0f} s",
        cluster_service.cut(pod),
        hold_s=_CUT_S,
    )
    cluster_service.wait_until_whole()


def test_the_control_store_dies(cluster_service: ClusterService) -> None:
    """Ray's head ends with it (GCS), and is started again."""
    gcs = find_process(cluster_service.cluster.head, "gcs_server")
    cluster_service.break_under_load("the head's GCS, kill -9", killed(gcs))
    cluster_service.wait_until_whole()


def test_the_head_dies(cluster_service: ClusterService) -> None:
    head = cluster_service.cluster.head
    cluster_service.break_under_load("head pod, kill -9 of all its processes", failed(head))
    cluster_service.wait_until_whole()


@pytest.mark.parametrize("group", ["engine", "query"])
def test_a_worker_dies(cluster_service: ClusterService, group: str) -> None:
    """The last cases: Serve leaves replicas where they went from a pod that has died."""
    pod = cluster_service.cluster.group(group)[0]
    cluster_service.break_under_load(
        f"{group} pod, kill -9 of all its processes", failed(pod), may_lose=[pod.url]
    )
    cluster_service.wait_until_whole()
