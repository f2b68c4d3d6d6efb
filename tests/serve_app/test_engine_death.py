"""The engine dies or hangs under questions, on a real Ray with OpenVINO and the default model."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import httpx
import psutil
import pytest

from nl2sql.errors import Unavailable
from nl2sql.settings import load_settings
from serve_app.composition.wiring import Wiring
from serve_app.operations.background import is_ready, service_url
from serve_app.operations.preparation import pull_model
from serve_app.ray.running import start_service, stop_service
from tests.conftest import ROOT
from tests.generation.openvino import write_folder

pytestmark = [pytest.mark.model, pytest.mark.long, pytest.mark.timeout(1800)]

TOPICS = "employees orders tickets suppliers projects invoices products customers".split()
# What is asked of the service once the engine's process is gone.
MOST_S = 30.0


@dataclass(frozen=True, slots=True)
class Outage:
    """The statuses of all questions; ``ready_s`` after the fault it was ready again."""

    statuses: tuple[int, ...]
    ready_s: float


@pytest.fixture(scope="module")
def url(wiring: Wiring) -> Iterator[str]:
    """The service, with the weights of the repository's own cache, and short prompts."""
    settings = wiring.settings
    settings = settings.model_copy(
        update={
            "home": load_settings(ROOT / "quorumsql.yaml").home,
            "model": settings.model.model_copy(update={"engine": "openvino"}),
            "retrieval": settings.retrieval.model_copy(update={"max_tables": 2, "examples": 0}),
            "limits": settings.limits.model_copy(update={"request_timeout_ms": 600_000}),
        }
    )
    pull_model(settings)
    start_service(replace(wiring, settings=settings))
    yield service_url(settings)
    stop_service()


def find_processes(name: str) -> list[psutil.Process]:
    """Those below this one whose command line holds ``name``."""
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            if any(name in part for part in process.cmdline()):
                found.append(process)
        except psutil.Error:
            continue
    return found


def is_alive(process: psutil.Process) -> bool:
    """Whether it may still do anything."""
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def break_under_questions(url: str, broken: psutil.Process, fault: Callable[[], None]) -> Outage:
    """Eight questions at once, the fault while they are answered, and the way back."""
    deadline = time.monotonic() + MOST_S
    while not is_ready(url):
        assert time.monotonic() < deadline

    def ask(topic: str) -> int:
        question = f"How many {topic} are there in each month?"
        body = {"question": question, "k": 1}
        return httpx.post(f"{url}/query", json=body, timeout=700).status_code

    with ThreadPoolExecutor(len(TOPICS)) as pool:
        asked = [pool.submit(ask, topic) for topic in TOPICS]
        time.sleep(2)
        fault()
        start = time.monotonic()
        # What was found within the last second is told again.
        time.sleep(1.5)
        while is_alive(broken) or not is_ready(url):
            assert time.monotonic() - start < 2 * MOST_S
            time.sleep(0.1)
        ready_s = time.monotonic() - start
        statuses = tuple(each.result() for each in asked)
    print(f"\nready again after {ready_s:.1f} s; {sorted(statuses)}")
    return Outage(statuses, ready_s)


def test_a_killed_engine_comes_back_under_questions(url: str) -> None:
    (process,) = find_processes("openvino_process.py")
    outage = break_under_questions(url, process, process.kill)
    assert set(outage.statuses) <= {200, 503}
    assert outage.ready_s < MOST_S
    (again,) = find_processes("openvino_process.py")
    assert again.pid != process.pid


def test_an_engine_that_hangs_comes_back_under_questions(url: str) -> None:
    (process,) = find_processes("openvino_process.py")
    outage = break_under_questions(url, process, lambda: process.send_signal(signal.SIGSTOP))
    assert set(outage.statuses) <= {200, 503}
    assert outage.ready_s < 2 * MOST_S
    assert find_processes("openvino_process.py")[0].pid != process.pid


def test_an_engine_that_cannot_start_is_told_and_leaves_nothing(
    wiring: Wiring, tmp_path_factory: pytest.TempPathFactory, url: str
) -> None:
    """Last, since it ends the service. OpenVINO alone notices that the file holds no model."""
    stop_service()
    weights = write_folder(tmp_path_factory.mktemp("weights"))
    model = wiring.settings.model.model_copy(
        update={"engine": "openvino", "name": str(weights), "max_model_len": 2048}
    )
    settings = wiring.settings.model_copy(update={"model": model})
    before = threading.active_count()
    with pytest.raises(Unavailable, match=r"did not start: .*Unable to read the model"):
        start_service(replace(wiring, settings=settings))
    assert not find_processes("raylet")
    assert not is_ready(service_url(settings))
    assert threading.active_count() <= before + 1
