"""Pods of a RayCluster: nodes of Ray, started with the commands that KubeRay v1.7 would build.

A pod has the resources and labels of its group, its environment, and of the secrets only those that
it names. On a host of its own it has Kubernetes' ports too; without hosts all pods have the address
127.0.0.1, and ports differ.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil

from tests.deploy.hosts import Host, Hosts

BIN = Path(sys.executable).parent
REDIS = 6499
MOUNT = "/etc/quorumsql"
# A label of each node: its pod's number.
POD = "test/pod"


@dataclass(frozen=True, slots=True)
class Ports:
    """Where a pod listens; the first two are the head's."""

    gcs: int = 6379
    dashboard: int = 8265
    http: int = 8000
    metrics: int = 8080
    agent: int = 52365


# On one address: those of the head, to which the number of a pod is added.
_SHARED = Ports(6479, 8365, 8300, 8340, 8380)


@dataclass
class Pod:
    """One node of Ray and how it is started; ``before_stop`` is the command of its preStop hook."""

    group: str
    number: int
    command: list[str]
    environ: dict[str, str]
    folder: Path
    before_stop: str
    ports: Ports
    host: Host | None = None
    process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        """Its IPv4 address."""
        return self.host.address if self.host else "127.0.0.1"

    @property
    def url(self) -> str:
        """Where its HTTP proxy listens."""
        return f"http://{self.address}:{self.ports.http}"

    def start(self) -> None:
        """Starts it as a new pod: nothing is left of the files of an earlier one."""
        shutil.rmtree(self.folder, ignore_errors=True)
        command = self.host.wrap(self.command) if self.host else self.command
        with self.folder.with_suffix(".log").open("ab") as out:
            self.process = subprocess.Popen(
                command, env=self.environ, stdout=out, stderr=out, start_new_session=True
            )

    def list_processes(self) -> list[psutil.Process]:
        """Its processes; on a host of its own also those that outlived their parents."""
        if self.host:
            return self.host.list_processes()
        if self.process is None:
            return []
        try:
            first = psutil.Process(self.process.pid)
            return [first, *first.children(recursive=True)]
        except psutil.NoSuchProcess:
            return []

    def fail(self) -> None:
        """Kills (SIGKILL) all its processes, as when its machine fails."""
        _kill(self.list_processes())

    def kill(self) -> None:
        """As ``fail``, and nobody starts it again."""
        running = self.list_processes()
        process, self.process = self.process, None
        _kill(running)
        if process is not None:
            process.wait()


class PodBuilder:
    """Builds pods from the groups of a RayCluster's spec."""

    def __init__(
        self,
        spec: Any,
        passwords: Mapping[str, Mapping[str, str]],
        folder: Path,
        token: str,
        hosts: Hosts | None,
    ) -> None:
        self._spec = spec
        self._passwords = passwords
        self._folder = folder
        self._token = token
        self._hosts = hosts
        self._built: list[Pod] = []

    def build_head(self) -> Pod:
        """The head, with its state in Redis where this machine has one."""
        ports = Ports() if self._hosts else _SHARED
        start = ["--head", f"--port={ports.gcs}", f"--dashboard-port={ports.dashboard}"]
        pod = self._build("head", self._spec["headGroupSpec"], start)
        if self._hosts:
            pod.command.append("--dashboard-host=0.0.0.0")
        options = self._spec.get("gcsFaultToleranceOptions")
        if options and shutil.which("redis-server"):
            reference = options["redisPassword"]["valueFrom"]["secretKeyRef"]
            password = self._passwords[reference["name"]][reference["key"]]
            address = self._hosts.address if self._hosts else "127.0.0.1"
            pod.environ |= {
                "RAY_REDIS_ADDRESS": f"{address}:{REDIS}",
                "REDIS_PASSWORD": password,
                "RAY_external_storage_namespace": "test",
            }
            pod.command += [f"--redis-password={password}"]
        return pod

    def build_worker(self, group: Any) -> Pod:
        """A pod of a worker group. The head is built first."""
        head = self._built[0]
        start = [f"--address={head.address}:{head.ports.gcs}"]
        pod = self._build(group["groupName"], group, start)
        # As KubeRay sets it where the head's state is in Redis.
        pod.environ["RAY_gcs_rpc_server_reconnect_timeout_s"] = "600"
        return pod

    def _build(self, name: str, group: Any, start: list[str]) -> Pod:
        (container,) = group["template"]["spec"]["containers"]
        number = len(self._built)
        host = self._hosts.add() if self._hosts else None
        ports = Ports() if host else _shift(number)
        limits = {**container["resources"]["limits"], **group.get("resources", {})}
        labels = {**group["labels"], POD: number}
        command = [
            str(BIN / "ray"), "start", *start, "--block", "--disable-usage-stats",
            f"--node-ip-address={host.address if host else '127.0.0.1'}",
            f"--num-cpus={limits.get('CPU', limits['cpu'])}",
            f"--num-gpus={limits.get('nvidia.com/gpu', 0)}",
            f"--labels={','.join(f'{key}={value}' for key, value in labels.items())}",
            f"--metrics-export-port={ports.metrics}",
            f"--dashboard-agent-listen-port={ports.agent}",
            f"--temp-dir={self._folder / str(number)}",
            "--object-store-memory=100000000",
        ]  # fmt: skip
        hook = container.get("lifecycle", {}).get("preStop", {}).get("exec", {"command": [""]})
        pod = Pod(
            group=name,
            number=number,
            command=command,
            environ=self._build_environ(container, ports),
            folder=self._folder / str(number),
            before_stop=hook["command"][-1],
            ports=ports,
            host=host,
        )
        self._built.append(pod)
        return pod

    def _build_environ(self, container: Any, ports: Ports) -> dict[str, str]:
        """What the container would have, and no variable of this process but the paths."""
        environ = {
            name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ
        }
        environ |= {
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": self._token,
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        if not self._hosts:
            environ["RAY_SERVE_WORKER_PROXY_HTTP_PORT"] = str(ports.http)
        for variable in container["env"]:
            environ[variable["name"]] = variable["value"].replace(MOUNT, str(self._folder))
        for source in container.get("envFrom", ()):
            environ |= self._passwords[source["secretRef"]["name"]]
        return environ


def _shift(number: int) -> Ports:
    return replace(
        _SHARED,
        http=_SHARED.http + number,
        metrics=_SHARED.metrics + number,
        agent=_SHARED.agent + number,
    )


def _kill(processes: Sequence[psutil.Process]) -> None:
    for process in processes:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            continue
