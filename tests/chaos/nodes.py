"""A cluster with a host for each pod, asked through the pods that are ready."""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

import httpx
import psutil

from tests.chaos.processes import CONTROLLER, REPLICAS
from tests.chaos.service import AskedService
from tests.deploy.cluster import Cluster, wait_for
from tests.deploy.hosts import Hosts
from tests.deploy.pods import Pod

_PROBE_S = 1.0
_PROBE_TIMEOUT_S = 2.0
_MOST_SETTLING_S = 120.0
# Ray has a proxy where replicas are, and keeps a varying number of idle processes.
_KINDS = (*(f"quorumsql:{name}" for name in REPLICAS), CONTROLLER, "raylet/raylet", "gcs_server")


class ReadyPods:
    """The pods that answered their last readiness probe, as the Service of Kubernetes has them."""

    def __init__(self, pods: Sequence[Pod]) -> None:
        self._pods = pods
        self._ready = [*pods]
        self._numbers = itertools.count()
        self._ending = threading.Event()
        self._threads = [threading.Thread(target=self._probe, args=[pod]) for pod in pods]
        for thread in self._threads:
            thread.start()

    def find_url(self) -> str:
        """One of them after another; of any pod where none is ready."""
        pods = [*self._ready] or self._pods
        return pods[next(self._numbers) % len(pods)].url

    def close(self) -> None:
        """Probes no more."""
        self._ending.set()
        for thread in self._threads:
            thread.join()

    def _probe(self, pod: Pod) -> None:
        while not self._ending.wait(_PROBE_S):
            try:
                answer = httpx.get(f"{pod.url}/-/healthz", timeout=_PROBE_TIMEOUT_S)
                is_ready = answer.status_code == 200
            except httpx.HTTPError:
                is_ready = False
            if is_ready and pod not in self._ready:
                self._ready.append(pod)
            if not is_ready and pod in self._ready:
                self._ready.remove(pod)


@dataclass(kw_only=True)
class ClusterService(AskedService):
    """The cluster, its hosts, the pods that are asked, and its processes when all is well."""

    cluster: Cluster
    hosts: Hosts
    ready: ReadyPods
    processes: Counter[str]

    def find_url(self) -> str:
        return self.ready.find_url()

    def cut(self, pod: Pod) -> AbstractContextManager[None]:
        """The network between the pod and all others is cut until the block ends."""
        others = [other.host for other in self.cluster.pods if other is not pod and other.host]
        assert pod.host is not None
        return self.hosts.cut(pod.host, others)

    def wait_until_whole(self) -> None:
        """Waits until all replicas run, and the same processes as in the beginning.

        Raises AssertionError if that takes too long.
        """

        def is_whole() -> bool:
            return self.cluster.is_running() and count_processes(self.cluster) == self.processes

        if not wait_for(is_whole, _MOST_SETTLING_S):
            found = count_processes(self.cluster)
            raise AssertionError(
                f"too many {found - self.processes}, missing {self.processes - found}, "
                f"{self.cluster.read_messages()}"
            )


def count_processes(cluster: Cluster) -> Counter[str]:
    """Processes of the cluster by kind: replicas, Serve's controller, Ray's own."""
    counts: Counter[str] = Counter()
    for pod in cluster.pods:
        for process in pod.list_processes():
            try:
                line = " ".join(process.cmdline())
            except psutil.Error:
                continue
            counts.update(kind for kind in _KINDS if kind in line)
    return counts


@contextmanager
def failed(pod: Pod) -> Iterator[None]:
    """All processes of the pod are killed; it is started again as a new one."""
    pod.fail()
    yield


def find_process(pod: Pod, name: str) -> psutil.Process:
    """The only process of the pod with that name. Raises ValueError if there is none."""
    (process,) = (found for found in pod.list_processes() if found.name() == name)
    return process
