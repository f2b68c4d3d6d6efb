"""Replicas are killed (kill -9) or stopped (SIGSTOP) under load."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import httpx
import psutil
import pytest
from ray import serve

from serve_app.ray.running import APPLICATION
from tests.chaos.service import Service
from tests.serve_app.echo_engine import HANG
from tests.serve_app.interfaces import build_token
from tests.waiting import wait_for

pytestmark = pytest.mark.timeout(900)

PROXY, CONTROLLER = "ray::ProxyActor", "ray::ServeController"
_MOST_STOPPING_S = 90.0
_SETTLE_S = 60.0


def find_processes(name: str) -> list[psutil.Process]:
    """Those below this one whose command line holds ``name``."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if any(name in part for part in process.cmdline()):
                found.append(process)
    return found


def is_alive(process: psutil.Process) -> bool:
    """Whether it may still do anything."""
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def find_process(title: str) -> psutil.Process:
    """The only process of the service with that title. Raises AssertionError if there is none."""
    (process,) = find_processes(title)
    return process


def find_replica(name: str) -> psutil.Process:
    """The process of a deployment's only replica. Raises AssertionError if there is none."""
    return find_process(f"quorumsql:{name}")


@contextmanager
def killed(process: psutil.Process) -> Iterator[None]:
    """The process is killed, for good."""
    process.kill()
    yield


@contextmanager
def stopped(process: psutil.Process) -> Iterator[None]:
    """The process is stopped (SIGSTOP), and nobody makes it go on."""
    process.send_signal(signal.SIGSTOP)
    yield


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("engine", marks=pytest.mark.long),
        "executor",
        "ranker",
        "retriever",
        pytest.param("ingress", marks=pytest.mark.long),
    ],
)
def test_a_killed_replica_is_replaced(service: Service, name: str) -> None:
    old = find_replica(name)
    service.break_under_load(f"{name} replica, kill -9", killed(old))
    assert find_replica(name).pid != old.pid


@pytest.mark.parametrize("name", ["engine", "executor", "ingress"])
def test_a_stopped_replica_is_replaced(service: Service, name: str) -> None:
    replica = find_replica(name)
    try:
        service.break_under_load(f"{name} replica, SIGSTOP", stopped(replica))
        # Serve kills it when it has not ended by itself.
        deadline = time.monotonic() + _MOST_STOPPING_S
        while is_alive(replica):
            assert time.monotonic() < deadline
            time.sleep(0.5)
    finally:
        if is_alive(replica):
            replica.kill()


def test_the_killed_controller_is_replaced(service: Service) -> None:
    service.break_under_load("Serve's controller, kill -9", killed(find_process(CONTROLLER)))


def test_the_killed_proxy_is_replaced(service: Service) -> None:
    """The connections of all clients break with it."""
    service.break_under_load("HTTP proxy, kill -9", killed(find_process(PROXY)), may_lose=True)


@pytest.mark.long
def test_requests_of_a_dead_ingress_end_in_the_engine(service: Service) -> None:
    engine = serve.get_deployment_handle("engine", APPLICATION)
    hanging, ended = engine.counts.remote().result()

    def ask() -> None:
        headers = {"Authorization": f"Bearer {build_token('analyst')}"}
        for accept in ("application/json", "text/event-stream"):
            body = {"question": f"How many {HANG} orders, for {accept}?"}
            with suppress(httpx.TransportError):
                httpx.post(
                    f"{service.url}/query",
                    json=body,
                    headers={**headers, "accept": accept},
                    timeout=10,
                )

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    assert wait_for(lambda: engine.counts.remote().result()[0] > hanging, _SETTLE_S)
    find_replica("ingress").kill()
    for thread in threads:
        thread.join()

    def is_over() -> bool:
        now_hanging, now_ended = engine.counts.remote().result()
        return bool(now_hanging - hanging == now_ended - ended)

    assert wait_for(is_over, _SETTLE_S)
    assert wait_for(lambda: len(find_processes("quorumsql:ingress")) == 1, _SETTLE_S)
