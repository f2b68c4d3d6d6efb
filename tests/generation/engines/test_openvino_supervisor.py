"""A server that dies, hangs or does not start again, and nobody who asks anything."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from generation.engines import openvino_supervisor
from generation.engines.openvino_supervisor import OpenVinoSupervisor
from nl2sql.errors import EngineUnavailable
from tests.generation.openvino import FakeServer, Starter


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openvino_supervisor, "_CHECK_S", 0.01)
    monkeypatch.setattr(openvino_supervisor, "_HEALTH_CHECK_S", 0.01)


@asynccontextmanager
async def keep(
    *outcomes: FakeServer | Exception,
) -> AsyncIterator[tuple[OpenVinoSupervisor, Starter]]:
    """A supervisor that watches its first server."""
    start = Starter(*outcomes)
    supervisor = OpenVinoSupervisor(start)
    await supervisor.find()
    yield supervisor, start
    await supervisor.close()


async def wait_for(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not condition():  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.005)


async def test_a_server_that_died_is_started_again_though_nobody_asks() -> None:
    async with keep(FakeServer(), FakeServer()) as (supervisor, start):
        first = await supervisor.find()
        start.history[0].is_running = False
        assert "restarted" in supervisor.describe_problem()
        await wait_for(lambda: len(start.history) == 2)
        assert await supervisor.find() is not first
        assert supervisor.describe_problem() == ""
        await wait_for(lambda: start.history[0].stopped)
    assert start.history[1].stopped


async def test_a_server_that_hangs_is_killed_and_started_again() -> None:
    async with keep(FakeServer(), FakeServer()) as (supervisor, start):
        start.history[0].hangs = True
        await wait_for(lambda: "does not answer" in supervisor.describe_problem())
        await wait_for(lambda: len(start.history) == 2)
        assert supervisor.describe_problem() == ""


async def test_a_server_that_is_silent_for_a_while_or_too_busy_to_answer_lives_on() -> None:
    async with keep(FakeServer()) as (supervisor, start):
        server = start.history[0]
        server.hangs = True
        await wait_for(lambda: "does not answer" in supervisor.describe_problem())
        server.hangs = False
        await wait_for(lambda: supervisor.describe_problem() == "")
        server.hangs = server.works = True
        await wait_for(lambda: server.worked_s > 12)
        assert supervisor.describe_problem() == ""
        assert server.is_running


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (EngineUnavailable("There is no memory."), "There is no memory."),
        (OSError(12, "Cannot allocate memory"), "Cannot allocate memory"),
    ],
)
async def test_a_start_that_fails_is_told_and_tried_again(failure: Exception, told: str) -> None:
    async with keep(FakeServer(), failure, failure, failure, FakeServer()) as (supervisor, start):
        start.history[0].is_running = False
        with pytest.raises(EngineUnavailable, match=told):
            await supervisor.find()
        assert told in supervisor.describe_problem()
        await wait_for(lambda: len(start.history) == 2)
        assert supervisor.describe_problem() == ""


@pytest.mark.parametrize("method", ["kill", "stop"])
async def test_whatever_fails_the_watch_goes_on(method: str) -> None:
    class FailingServer(FakeServer):
        def kill(self) -> None:
            super().kill()
            if method == "kill":
                raise RuntimeError("broken")

        def stop(self) -> None:
            if method == "stop":
                raise OSError("gone")

    async with keep(FailingServer(), FakeServer(), FakeServer()) as (supervisor, start):
        start.history[0].hangs = True
        await wait_for(lambda: len(start.history) == 2)
        start.history[1].is_running = False
        await wait_for(lambda: len(start.history) == 3)
        assert (await supervisor.find()).is_running


async def test_many_who_ask_start_one_which_goes_on_if_one_of_them_leaves() -> None:
    class SlowStarter(Starter):
        def __call__(self, *_: object) -> Any:
            if self.history:
                time.sleep(0.1)
            return super().__call__()

    start = SlowStarter(FakeServer(), FakeServer())
    supervisor = OpenVinoSupervisor(start)
    start.history[0].is_running = False
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(supervisor.find(), 0.02)
    found: list[Any] = await asyncio.gather(*(supervisor.find() for _ in range(8)))
    assert {id(server) for server in found} == {id(start.history[1])}
    await supervisor.close()
    assert [server.stopped for server in start.history] == [True, True]
    start.history[1].is_running = False
    with pytest.raises(EngineUnavailable, match="closed"):
        await supervisor.find()
