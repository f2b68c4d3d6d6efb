"""Replicas are killed (kill -9) or stopped (SIGSTOP) under load."""

from __future__ import annotations

import time

import pytest

from tests.chaos.processes import (
    CONTROLLER,
    PROXY,
    find_process,
    find_replica,
    is_alive,
    killed,
    stopped,
)
from tests.chaos.service import Service

pytestmark = pytest.mark.timeout(900)

_MOST_STOPPING_S = 90.0


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
