"""Starts what a rendered RayService describes, with Ray's own commands on this machine.

Each pod is one node of Ray, started with the command that KubeRay v1.7 would build for it: the
resources and labels of its group, its environment, and of the secrets only those that it names. All
of them have the same address here, so ports differ; nothing else does.
"""

from __future__ import annotations

import os
import secrets
import shlex
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil
import yaml

BIN = Path(sys.executable).parent
GCS, REDIS, DASHBOARD = 6479, 6499, 8365
# The head's port, then those of the workers.
HTTP, METRICS, AGENT = 8300, 8340, 8380
MOUNT = "/etc/quorumsql"
# A label of each node: its pod's port.
POD = "test/pod"


@dataclass
class Pod:
    """One node of Ray and how it is started; ``before_stop`` is the command of its preStop hook."""

    group: str
    command: list[str]
    environ: dict[str, str]
    folder: Path
    before_stop: str
    http_port: int
    metrics_port: int
    agent_port: int
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts it as a new pod: nothing is left of the files of an earlier one."""
        shutil.rmtree(self.folder, ignore_errors=True)
        log = self.folder.with_suffix(".log")
        with log.open("ab") as out:
            self.process = subprocess.Popen(
                self.command, env=self.environ, stdout=out, stderr=out, start_new_session=True
            )

    def kill(self) -> None:
        """Kills it with all its processes, as when its machine fails."""
        process, self.process = self.process, None
        if process is None:
            return
        try:
            running = [psutil.Process(process.pid)]
            running += running[0].children(recursive=True)
        except psutil.NoSuchProcess:
            return
        for started in running:
            try:
                started.kill()
            except psutil.NoSuchProcess:
                continue
        process.wait()


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

    def group(self, name: str) -> list[Pod]:
        """The workers of a group."""
        return [pod for pod in self.workers if pod.group == name]

    def deploy(self, config: Mapping[str, Any]) -> None:
        """``serve deploy``, again and again until Ray takes it, as KubeRay's operator does."""
        file = self.folder / "deployed.yaml"
        file.write_text(yaml.safe_dump(dict(config)))
        address = f"http://127.0.0.1:{DASHBOARD}"
        command = [str(BIN / "serve"), "deploy", str(file), "--address", address]

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
        return httpx.get(f"http://127.0.0.1:{DASHBOARD}{path}", headers=headers, timeout=30)

    def drain(self, pod: Pod) -> None:
        """Runs the command that a pod runs before it ends, without its waiting."""
        nodes = self.ask_dashboard("/api/v0/nodes").json()["data"]["result"]["result"]
        (node,) = (node for node in nodes if node["labels"].get(POD) == str(pod.http_port))
        program, *arguments = shlex.split(pod.before_stop.partition(" && ")[0])
        # In a pod it is the only node.
        command = [str(BIN / program), *arguments, "--node-id", node["node_id"]]
        environ = {**pod.environ, "RAY_ADDRESS": f"127.0.0.1:{GCS}"}
        subprocess.run(command, env=environ, check=True, capture_output=True)

    def list_replicas(self) -> list[tuple[str, psutil.Process]]:
        """Deployment and process of each running replica."""
        deployments = self.read_status()["applications"]["quorumsql"]["deployments"]
        return [
            (name, psutil.Process(replica["pid"]))
            for name, deployment in deployments.items()
            for replica in deployment["replicas"]
            if replica["state"] == "RUNNING"
        ]

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
    rayservice: Any, settings: Path, passwords: Mapping[str, Mapping[str, str]], folder: Path
) -> Iterator[Cluster]:
    """The cluster of a RayService, its application deployed.

    ``settings`` replaces the mounted ConfigMap; ``passwords`` are the content of the secrets.
    """
    spec = rayservice["spec"]["rayClusterConfig"]
    token = secrets.token_hex(16)
    shutil.copy(settings, folder / "quorumsql.yaml")
    builder = _PodBuilder(spec, passwords, folder, token)
    head = builder.build_head()
    workers = [
        builder.build_worker(group)
        for group in spec["workerGroupSpecs"]
        for _ in range(group["replicas"])
    ]
    config = yaml.safe_load(rayservice["spec"]["serveConfigV2"].replace(MOUNT, str(folder)))
    config["http_options"]["port"] = HTTP
    cluster = Cluster(folder, token, head, workers, config)
    with ExitStack() as stack:
        if "RAY_REDIS_ADDRESS" in head.environ:
            stack.enter_context(_run_redis(head.environ["REDIS_PASSWORD"], folder))
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
def _run_redis(password: str, folder: Path) -> Iterator[None]:
    process = subprocess.Popen(
        ["redis-server", "-", "--dir", str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )
    assert process.stdin is not None
    process.stdin.write(f'port {REDIS}\nbind 127.0.0.1\nrequirepass {password}\nsave ""\n'.encode())
    process.stdin.close()
    try:
        yield
    finally:
        process.terminate()
        process.wait()


class _PodBuilder:
    """Builds nodes from the groups of a RayCluster's spec."""

    def __init__(
        self,
        spec: Any,
        passwords: Mapping[str, Mapping[str, str]],
        folder: Path,
        token: str,
    ) -> None:
        self._spec = spec
        self._passwords = passwords
        self._folder = folder
        self._token = token
        self._built = 0

    def build_head(self) -> Pod:
        """The head, with its state in Redis where this machine has one."""
        group = self._spec["headGroupSpec"]
        pod = self._build("head", group, ["--head", f"--port={GCS}"])
        pod.command.append(f"--dashboard-port={DASHBOARD}")
        options = self._spec.get("gcsFaultToleranceOptions")
        if options and shutil.which("redis-server"):
            reference = options["redisPassword"]["valueFrom"]["secretKeyRef"]
            password = self._passwords[reference["name"]][reference["key"]]
            pod.environ |= {
                "RAY_REDIS_ADDRESS": f"127.0.0.1:{REDIS}",
                "REDIS_PASSWORD": password,
                "RAY_external_storage_namespace": "test",
            }
            pod.command += [f"--redis-password={password}"]
        return pod

    def build_worker(self, group: Any) -> Pod:
        """A pod of a worker group."""
        pod = self._build(group["groupName"], group, [f"--address=127.0.0.1:{GCS}"])
        # As KubeRay sets it where the head's state is in Redis.
        pod.environ["RAY_gcs_rpc_server_reconnect_timeout_s"] = "600"
        return pod

    def _build(self, name: str, group: Any, start: list[str]) -> Pod:
        (container,) = group["template"]["spec"]["containers"]
        number, self._built = self._built, self._built + 1
        limits = {**container["resources"]["limits"], **group.get("resources", {})}
        labels = {**group["labels"], POD: HTTP + number}
        command = [
            str(BIN / "ray"), "start", *start, "--block", "--disable-usage-stats",
            "--node-ip-address=127.0.0.1",
            f"--num-cpus={limits.get('CPU', limits['cpu'])}",
            f"--num-gpus={limits.get('nvidia.com/gpu', 0)}",
            f"--labels={','.join(f'{key}={value}' for key, value in labels.items())}",
            f"--metrics-export-port={METRICS + number}",
            f"--dashboard-agent-listen-port={AGENT + number}",
            f"--temp-dir={self._folder / str(number)}",
            "--object-store-memory=100000000",
        ]  # fmt: skip
        hook = container.get("lifecycle", {}).get("preStop", {}).get("exec", {"command": [""]})
        return Pod(
            group=name,
            command=command,
            environ=self._build_environ(container, number),
            folder=self._folder / str(number),
            before_stop=hook["command"][-1],
            http_port=HTTP + number,
            metrics_port=METRICS + number,
            agent_port=AGENT + number,
        )

    def _build_environ(self, container: Any, number: int) -> dict[str, str]:
        """What the container would have, and no variable of this process but the paths."""
        environ = {
            name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ
        }
        environ |= {
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": self._token,
            "RAY_SERVE_WORKER_PROXY_HTTP_PORT": str(HTTP + number),
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        for variable in container["env"]:
            environ[variable["name"]] = variable["value"].replace(MOUNT, str(self._folder))
        for source in container.get("envFrom", ()):
            environ |= self._passwords[source["secretRef"]["name"]]
        return environ
