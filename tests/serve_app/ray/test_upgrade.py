"""The application is replaced while it answers: no request is lost, no policy is mixed."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from ray import serve

from serve_app.composition.wiring import Wiring
from serve_app.ray.builder import build_application
from serve_app.ray.running import APPLICATION
from serve_app.settings.identity import IdentitySettings
from tests.serve_app.echo_replica import EchoReplica
from tests.serve_app.ray.ray_service import serving
from tests.waiting import wait_for

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]

# Every policy here shows one department.
QUESTION = "SELECT DISTINCT department_id FROM employees"
CLIENTS = 4


def govern(wiring: Wiring, folder: Path, department: int) -> Wiring:
    """The wiring with a policy that shows employees of one department."""
    file = folder / f"policy{department}.yaml"
    role = {
        "description": "Sees the employees of one department.",
        "tables": {"visible": "*", "hidden": []},
        "rows": "all",
        "row_filters": {"hr.employees": f"department_id = {department}"},
        "inherit": {},
        "masked_columns": [],
    }
    policy = {"version": 1, "database": "demo_erp", "roles": {"analyst": role}}
    file.write_text(yaml.safe_dump(policy))
    settings = wiring.settings
    database = settings.databases["demo_erp"].model_copy(update={"policy": file})
    changed = {
        "databases": {**settings.databases, "demo_erp": database},
        "identity": IdentitySettings.model_validate({"local": {"roles": ["analyst"]}}),
    }
    return replace(wiring, settings=settings.model_copy(update=changed))


class Load:
    """Clients that ask all the time; ``responses`` are in order of their ends."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._over = threading.Event()
        self.responses: list[tuple[float, httpx.Response]] = []

    def ask(self, client: int) -> None:
        """One client's questions; the number makes them distinct."""
        number = 0
        while not self._over.is_set():
            number += 1
            start = time.monotonic()
            body = {"question": f"{QUESTION} WHERE {client} < {number + client}", "k": 1}
            self.responses.append((start, httpx.post(f"{self._url}/query", json=body, timeout=120)))

    def count_since(self, moment: float) -> int:
        """How many answers there are to questions asked after it."""
        return sum(start > moment for start, _ in self.responses)

    @contextmanager
    def running(self) -> Iterator[None]:
        """They ask until the block ends."""
        with ThreadPoolExecutor(CLIENTS) as pool:
            asking = [pool.submit(self.ask, client) for client in range(CLIENTS)]
            try:
                yield
            finally:
                self._over.set()
            for client in asking:
                client.result()


def deploy(wiring: Wiring, fuse_cpu_stages: bool) -> None:
    """Replaces the running application."""
    serving = wiring.settings.serve.model_copy(update={"fuse_cpu_stages": fuse_cpu_stages})
    settings = wiring.settings.model_copy(update={"serve": serving})
    options = {"ray_actor_options": {"num_cpus": 0.1}, "max_ongoing_requests": 64}
    engine = serve.deployment(EchoReplica, name="engine", **options)
    application = build_application(
        replace(wiring, settings=settings), engine.bind(), drain_s=120.0
    )
    serve.run(application, name=APPLICATION, route_prefix="/")


def read_department(response: httpx.Response) -> int:
    """The one department whose employees the answer saw."""
    assert response.status_code == 200, response.text
    body: dict[str, Any] = response.json()
    assert body["outcome"] == "answered", body
    ((department,),) = body["rows"]
    return int(department)


@pytest.mark.parametrize("fuse_cpu_stages", [True, False], ids=["fused", "a deployment a stage"])
def test_a_new_policy_under_load(wiring: Wiring, tmp_path: Path, fuse_cpu_stages: bool) -> None:
    old, new = (govern(wiring, tmp_path, department) for department in (31, 32))
    with serving(old, fuse_cpu_stages=fuse_cpu_stages) as url:
        load = Load(url)
        # In a cluster, replicas finish their questions before they end.
        deploy(old, fuse_cpu_stages)
        with load.running():
            assert wait_for(lambda: load.count_since(0) >= CLIENTS, 180)
            deploy(new, fuse_cpu_stages)
            replaced = time.monotonic()
            assert wait_for(lambda: load.count_since(replaced) >= CLIENTS, 180)
    departments = [(start, read_department(response)) for start, response in load.responses]
    assert {department for _, department in departments} == {31, 32}
    assert {department for start, department in departments if start > replaced} == {32}
    assert departments[0][1] == 31
