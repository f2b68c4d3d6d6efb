"""Nothing is left behind by faults: no request, process, connection, file handle or memory."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import httpx
import pytest
from ray import serve

from serve_app.ray.running import APPLICATION
from tests.chaos.processes import (
    count_files,
    count_processes,
    count_shared_memory,
    find_replica,
    killed,
)
from tests.chaos.service import Service
from tests.serve_app.echo_engine import HANG
from tests.serve_app.interfaces import build_token
from tests.waiting import wait_for

pytestmark = pytest.mark.timeout(1200)

ROUNDS = 10
_SETTLE_S = 60.0


@dataclass(frozen=True, slots=True)
class Held:
    """What the service holds; connections are those of both databases."""

    processes: Counter[str]
    files: Counter[str]
    connections: int
    shared_memory: int


def measure(service: Service) -> Held:
    return Held(
        count_processes(),
        count_files(),
        service.data.count_connections() + service.index.count_connections(),
        count_shared_memory(),
    )


def find_leaks(before: Held, after: Held) -> list[str]:
    """What there is more of, by at least one for each round where numbers vary by themselves."""
    found = [
        f"{name}: {after.files[name]} files instead of {count}"
        for name, count in before.files.items()
        if after.files[name] >= count + ROUNDS
    ]
    if after.processes != before.processes:
        found.append(f"processes: {after.processes} instead of {before.processes}")
    for name in ("connections", "shared_memory"):
        if getattr(after, name) >= getattr(before, name) + ROUNDS:
            found.append(f"{name}: {getattr(after, name)} instead of {getattr(before, name)}")
    return found


@contextmanager
def break_all(service: Service) -> Iterator[None]:
    """Kills the engine's replica and that of the ingress, and silences the database."""
    with killed(find_replica("engine")), killed(find_replica("ingress")), service.data.silent():
        yield


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
    start = time.monotonic()
    find_replica("ingress").kill()
    for thread in threads:
        thread.join()

    def is_over() -> bool:
        now_hanging, now_ended = engine.counts.remote().result()
        return bool(now_hanging - hanging == now_ended - ended)

    assert wait_for(is_over, _SETTLE_S)
    print(f"\nthe engine's requests ended after {time.monotonic() - start:.1f} s")
    assert wait_for(lambda: count_processes()["quorumsql:ingress"] == 1, _SETTLE_S)


def test_ten_rounds_of_faults_leave_nothing(service: Service) -> None:
    service.answer_after(30)
    before = measure(service)
    for number in range(ROUNDS):
        service.break_under_load(f"round {number}", break_all(service), hold_s=2, record=False)
    after = measure(service)

    def is_settled() -> bool:
        nonlocal after
        after = measure(service)
        return not find_leaks(before, after)

    assert wait_for(is_settled, _SETTLE_S), find_leaks(before, after)
    print(f"\nbefore {before}\nafter {after}")
