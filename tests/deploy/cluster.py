"""Starts what a rendered RayService describes, with Ray's own commands on this machine."""

from __future__ import annotations

import secrets
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import yaml

from tests.deploy.hosts import Hosts
from tests.deploy.pods import BIN, MOUNT, REDIS, Pod, PodBuilder


@dataclass
class Cluster:
    """The running nodes."""

    folder: Path
    token: str
    head: Pod
    workers: list[Pod]
    serve_config: dict[str, Any]

    @property
    def pods(self) -> list[Pod]:
        """The head, then the workers."""
        return [self.head, *self.workers]

    @property
    def _dashboard(self) -> str:
        return f"http://{self.head.address}:{self.head.ports.dashboard}"

    @property
    def gcs_address(self) -> str:
        """Where programs connect to Ray."""
        return f"{self.head.address}:{self.head.ports.gcs}"

    def group(self, name: str) -> list[Pod]:
        """The workers of a group."""
        return [pod for pod in self.workers if pod.group == name]

    def deploy(self, config: Mapping[str, Any]) -> None:
        """``serve deploy``, again and again until Ray takes it, as KubeRay's operator does."""
        file = self.folder / "deployed.yaml"
        file.write_text(yaml.safe_dump(dict(config)))
        command = [str(BIN / "serve"), "deploy", str(file), "--address", self._dashboard]

        def is_taken() -> bool:
            done = subprocess.run(command, env=self.head.environ, capture_output=True, check=False)
            return done.returncode == 0

        assert wait_for(is_taken), _read_logs(self.folder)

    def read_status(self) -> Any:
        """Serve's own report of applications, deployments and replicas."""
        return self.ask_dashboard("/api/serve/applications/").json()

    def ask_dashboard(self, path: str, *, token: str | None = None) -> httpx.Response:
        """A request to the head's API, with the cluster's token or another one."""
        given = self.token if token is None else token
        headers = {"Authorization": f"Bearer {given}"} if given else {}
        return httpx.get(f"{self._dashboard}{path}", headers=headers, timeout=30)

    def is_running(self) -> bool:
        """Whether the application runs, with all replicas of the deployed config."""
        try:
            application = self.read_status()["applications"]["quorumsql"]
        except (httpx.HTTPError, KeyError, ValueError):
            return False
        assert application["status"] != "DEPLOY_FAILED", application["message"]
        deployments = application["deployments"].values()
        return application["status"] == "RUNNING" and all(
            deployment["status"] == "HEALTHY" for deployment in deployments
        )

    def read_messages(self) -> str:
        """Why the application does not run."""
        return yaml.safe_dump(self.read_status().get("applications", {}))[-4000:]


def wait_for(condition: Callable[[], bool], seconds: float = 400) -> bool:
    """Whether it becomes true in that time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.5)
    return False


@contextmanager
def run_cluster(
    rayservice: Any,
    settings: Path,
    passwords: Mapping[str, Mapping[str, str]],
    folder: Path,
    hosts: Hosts | None = None,
) -> Iterator[Cluster]:
    """The cluster of a RayService, its application deployed.

    ``settings`` replaces the mounted ConfigMap; ``passwords`` are the content of the secrets. With
    ``hosts`` each pod gets one of its own.
    """
    spec = rayservice["spec"]["rayClusterConfig"]
    token = secrets.token_hex(16)
    shutil.copy(settings, folder / "quorumsql.yaml")
    builder = PodBuilder(spec, passwords, folder, token, hosts)
    head = builder.build_head()
    workers = [
        builder.build_worker(group)
        for group in spec["workerGroupSpecs"]
        for _ in range(group["replicas"])
    ]
    config = yaml.safe_load(rayservice["spec"]["serveConfigV2"].replace(MOUNT, str(folder)))
    config["http_options"]["port"] = head.ports.http
    cluster = Cluster(folder, token, head, workers, config)
    with ExitStack() as stack:
        if "RAY_REDIS_ADDRESS" in head.environ:
            address = hosts.address if hosts else "127.0.0.1"
            stack.enter_context(_run_redis(address, head.environ["REDIS_PASSWORD"], folder))
        for pod in cluster.pods:
            stack.callback(pod.kill)
            pod.start()
            if pod is head:
                assert wait_for(lambda: _answers(cluster), 120), _read_logs(folder)
        stack.enter_context(_starting_again(cluster.pods))
        cluster.deploy(config)
        assert wait_for(cluster.is_running), cluster.read_messages()
        yield cluster


@contextmanager
def _starting_again(pods: Sequence[Pod]) -> Iterator[None]:
    """Starts pods again that end by themselves, as Kubernetes does, until the block ends.

    Ray's nodes do so on a busy machine, where they wait only 30 s for their own processes.
    """
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(1):
            for pod in pods:
                if pod.process is not None and pod.process.poll() is not None:
                    pod.start()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _answers(cluster: Cluster) -> bool:
    try:
        return cluster.ask_dashboard("/api/version").status_code == 200
    except httpx.HTTPError:
        return False


def _read_logs(folder: Path) -> str:
    return "\n".join(path.read_text()[-2000:] for path in folder.glob("*.log"))


@contextmanager
def _run_redis(address: str, password: str, folder: Path) -> Iterator[None]:
    process = subprocess.Popen(
        ["redis-server", "-", "--dir", str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )
    assert process.stdin is not None
    process.stdin.write(f'port {REDIS}\nbind {address}\nrequirepass {password}\nsave ""\n'.encode())
    process.stdin.close()
    try:
        yield
    finally:
        process.terminate()
        process.wait()
