"""The rendered RayService runs: its nodes, its Serve config, its secrets, its metrics."""

from __future__ import annotations

import copy
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
import yaml
from ray.dashboard.modules.reporter.reporter_agent import METRICS_GAUGES

from execution.postgres.embedded import INDEXER, READER, EmbeddedServer, build_embedded_url
from serve_app.composition.wiring import Wiring
from tests.deploy.cluster import Cluster, run_cluster, wait_for
from tests.deploy.manifests import find, find_settings
from tests.deploy.monitoring import (
    evaluate,
    find_metrics,
    list_queries,
    read_dashboards,
    run_prometheus,
)
from tests.deploy.pods import BIN, Pod
from tests.generation.engines.loopback import Reply, serve
from tests.generation.engines.test_openai_engine import complete

pytestmark = pytest.mark.timeout(900)

QUESTION = "SELECT count(*) AS n FROM employees"
PASSWORDS = {
    "quorumsql-query": {"SHOP_READER_PASSWORD": "reader's", "INDEX_PASSWORD": "index's"},
    "quorumsql-index": {"SHOP_INDEXER_PASSWORD": "indexer's", "INDEX_PASSWORD": "index's"},
    "quorumsql-redis": {"REDIS_PASSWORD": "redis-s"},
}


def echo(body: dict[str, Any]) -> Reply:
    """A model that answers a question with the question."""
    question = body["messages"][-1]["content"].rpartition("Question: ")[2]
    return complete(*[f"```sql\n{question}\n```"] * body.get("n", 1))


@pytest.fixture(scope="module")
def engine_url() -> Iterator[str]:
    models = Reply({"object": "list", "data": [{"id": "echo", "object": "model"}]})
    with serve(v1__chat__completions=echo, v1__models=models) as server:
        yield f"{server.url}/v1"


@pytest.fixture(scope="module")
def cluster(wiring: Wiring, embedded_server: EmbeddedServer, engine_url: str) -> Iterator[Cluster]:
    """The cluster of the GPU overlay: a model that echoes in place of the large one."""
    settings = yaml.safe_load(find_settings("gpu"))
    folder = embedded_server.socket_folder
    shop = settings["databases"].pop("shop")
    shop["reader"]["url"] = build_embedded_url(folder, "demo_erp", READER)
    shop["indexer"]["url"] = build_embedded_url(folder, "demo_erp", INDEXER)
    shop["schemas"] = list(wiring.settings.databases["demo_erp"].schemas)
    settings["databases"]["demo_erp"] = shop
    settings["default_database"] = "demo_erp"
    settings["index"]["connection"]["url"] = wiring.index_url()
    settings["model"] = {"engine": "openai", "served_name": "echo", "base_url": engine_url}
    settings["sampling"]["k"] = 2
    # A short path: sockets of Ray lie below it.
    home = Path(tempfile.mkdtemp(prefix="qd-", dir="/tmp"))
    settings["home"] = str(home)
    file = home / "settings.yaml"
    file.write_text(yaml.safe_dump(settings))
    try:
        with run_cluster(find("gpu", "RayService"), file, PASSWORDS, home) as running:
            yield running
    finally:
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="module")
def key(cluster: Cluster) -> str:
    """An API key, made in a query pod."""
    (pod, *_) = cluster.group("query")
    command = [str(BIN / "quorumsql"), "keys", "create", "mia"]
    made = subprocess.run(command, env=pod.environ, check=True, capture_output=True, text=True)
    return str(made.stdout.split()[-1])


def ask(pod: Pod, key: str, question: str = QUESTION) -> httpx.Response:
    return httpx.post(
        f"{pod.url}/query",
        json={"question": question},
        headers={"Authorization": f"Bearer {key}"},
        timeout=120,
    )


def test_the_proxy_of_each_worker_answers(cluster: Cluster, key: str) -> None:
    for pod in cluster.workers:
        answer = ask(pod, key)
        assert answer.status_code == 200, answer.text
        assert answer.json()["outcome"] == "answered"
    assert ask(cluster.workers[0], "qsk_wrong").status_code == 401


def test_probes_need_no_token_and_ray_needs_one(cluster: Cluster) -> None:
    for pod in cluster.pods:
        assert is_alive(pod)
    for pod in cluster.workers:
        assert is_ready(pod)
    for token in ("", "another"):
        assert cluster.ask_dashboard("/api/jobs/", token=token).status_code in (401, 403)
    assert cluster.ask_dashboard("/api/jobs/").status_code == 200


def find_pod(cluster: Cluster, process: psutil.Process) -> Pod:
    started = {pod.process.pid: pod for pod in cluster.pods if pod.process}
    (pod,) = (started[parent.pid] for parent in process.parents() if parent.pid in started)
    return pod


def test_replicas_are_where_their_passwords_are(cluster: Cluster) -> None:
    replicas = cluster.list_replicas()
    assert {name for name, _ in replicas} == {
        deployment["name"] for deployment in cluster.serve_config["applications"][0]["deployments"]
    }
    for name, process in replicas:
        group = find_pod(cluster, process).group
        assert group == ("engine" if name == "engine" else "query")
        allowed = PASSWORDS["quorumsql-query"] if group == "query" else {}
        found = {key for key in process.environ() if key.endswith("PASSWORD")}
        assert found == {*allowed}


# Under the name of a batch job, which is what the dashboard selects.
BATCH = """
import time, ray
def answer(batch):
    time.sleep(1)
    return batch
ray.init()
data = ray.data.range(400).repartition(40).map_batches(answer)
data.set_name("quorumsql-batch")
data.materialize()
"""


@pytest.mark.skipif(
    shutil.which("prometheus") is None, reason="needs prometheus (Debian: prometheus)"
)
def test_every_panel_and_alert_reads_metrics_that_are_there(cluster: Cluster, key: str) -> None:
    """But for the driver's metrics of a GPU, of which the names are compared with Ray's own."""
    on_gpu = {f"ray_{name}" for name in METRICS_GAUGES if name.startswith(("node_g",))}
    queries = {
        f"{title}: {query}": query
        for dashboard in read_dashboards()
        for title, query in list_queries(dashboard)
        if not find_metrics(query) <= on_gpu
    }
    without_data = {*queries}
    targets = [f"{pod.address}:{pod.ports.metrics}" for pod in cluster.pods]
    environ = {**cluster.head.environ, "RAY_ADDRESS": cluster.gcs_address}
    with (
        run_prometheus(targets, cluster.folder) as url,
        subprocess.Popen([str(BIN / "python"), "-c", BATCH], env=environ) as batch,
    ):

        def have_data() -> bool:
            for question in (QUESTION, "SELECT pg_sleep(1) FROM employees"):
                ask(cluster.workers[0], key, question)
            without_data.difference_update(
                [name for name in without_data if evaluate(url, queries[name])]
            )
            return not without_data

        try:
            assert wait_for(have_data), without_data
        finally:
            batch.kill()
        rules = httpx.get(f"{url}/api/v1/rules").json()["data"]["groups"][0]["rules"]
        assert {rule["health"] for rule in rules} == {"ok"}
        # The names in alerts whose condition is met only where something is wrong.
        for rule in rules:
            for name in find_metrics(rule["query"]):
                assert evaluate(url, name) or name.startswith("kube_"), name


@contextmanager
def asking(pods: Sequence[Pod], key: str) -> Iterator[list[httpx.Response]]:
    """Asks through each of the pods without a pause, until the block ends; all answers."""
    stop = threading.Event()
    answers: list[httpx.Response] = []

    def keep_asking(pod: Pod) -> None:
        while not stop.is_set():
            answers.append(ask(pod, key))

    with ThreadPoolExecutor(len(pods)) as pool:
        asked = [pool.submit(keep_asking, pod) for pod in pods]
        try:
            yield answers
        finally:
            stop.set()
    for done in asked:
        done.result()


def check_answers(answers: Sequence[httpx.Response]) -> None:
    assert len(answers) > 10
    assert not [answer.text for answer in answers if answer.status_code != 200]
    assert {answer.json()["outcome"] for answer in answers} == {"answered"}


def test_a_changed_config_loses_no_request(cluster: Cluster, key: str) -> None:
    before = {process.pid for _, process in cluster.list_replicas()}
    changed = copy.deepcopy(cluster.serve_config)
    for deployment in changed["applications"][0]["deployments"]:
        # Serve replaces replicas whose resources change, one after another.
        deployment["ray_actor_options"]["num_cpus"] /= 2

    def is_replaced() -> bool:
        running = {process.pid for _, process in cluster.list_replicas()}
        return cluster.is_running() and not before & running

    with asking(cluster.workers, key) as answered:
        cluster.deploy(changed)
        assert wait_for(is_replaced, 400), cluster.read_messages()
    check_answers(answered)


def is_alive(pod: Pod) -> bool:
    """As the liveness probe."""
    return is_well(f"http://{pod.address}:{pod.ports.agent}/api/healthz")


def is_ready(pod: Pod) -> bool:
    """As the readiness probe of a worker."""
    return is_well(f"{pod.url}/-/healthz")


def is_well(url: str) -> bool:
    try:
        return httpx.get(url, timeout=30).status_code == 200
    except httpx.HTTPError:
        return False


@pytest.mark.skipif(shutil.which("redis-server") is None, reason="needs redis-server")
def test_workers_survive_the_death_of_the_head(cluster: Cluster, key: str) -> None:
    before = {process.pid for _, process in cluster.list_replicas()}
    # Replicas find one another through the head, so that each must have asked the others before.
    for _ in range(10):
        for pod in cluster.workers:
            assert ask(pod, key).status_code == 200
    cluster.head.kill()
    for pod in cluster.workers:
        assert ask(pod, key).json()["outcome"] == "answered"
    cluster.head.start()
    assert wait_for(cluster.is_running), cluster.read_messages()
    assert {process.pid for _, process in cluster.list_replicas()} == before
    for pod in cluster.workers:
        assert ask(pod, key).json()["outcome"] == "answered"


def test_a_pod_that_ends_loses_no_request_of_others(cluster: Cluster, key: str) -> None:
    (_, process), *_ = (named for named in cluster.list_replicas() if named[0] == "executor")
    ending = find_pod(cluster, process)

    def is_empty() -> bool:
        found = [find_pod(cluster, process) for _, process in cluster.list_replicas()]
        return ending not in found and cluster.is_running()

    with asking([pod for pod in cluster.workers if pod is not ending], key) as answered:
        cluster.drain(ending)
        assert wait_for(is_empty), cluster.read_messages()
        ending.kill()
        already = len(answered)
        assert wait_for(lambda: len(answered) > already + 10)
    check_answers(answered)
