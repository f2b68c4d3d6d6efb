"""The time of a request arrives in the deployments, and ends their work though nobody cancels it.

In Serve's local testing mode: handles and replicas are Serve's, in this process.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from ray import serve

from nl2sql.deadline import ending_in, read_left_s
from nl2sql.errors import DeadlineExceeded
from nl2sql.types import Message, Prompt, SamplingRequest
from serve_app.composition.wiring import Wiring
from serve_app.ray.remote import RemoteStage
from serve_app.ray.stage_replica import StageReplica
from tests.serve_app.echo_engine import HANG
from tests.serve_app.echo_replica import EchoReplica

REQUEST = SamplingRequest(Prompt("p", (Message("user", f"Question: {HANG}"),)), 1, 1, 0.0, 9)


class ProbedStage:
    """Says what is left of the request's time; its other work never ends."""

    def __init__(self) -> None:
        self.begun = self.ended = 0

    async def tell(self) -> float | None:
        return read_left_s()

    async def hang(self) -> None:
        self.begun += 1
        try:
            await asyncio.Event().wait()
        finally:
            self.ended += 1

    async def count(self) -> tuple[int, int]:
        return self.begun, self.ended


@pytest.fixture
def stage(wiring: Wiring) -> Any:
    deployment = serve.deployment(StageReplica, name="stage").bind(
        lambda _: (ProbedStage(),), wiring
    )
    return serve.run(deployment, _local_testing_mode=True)


async def test_a_stage_knows_how_much_of_the_requests_time_is_left(stage: Any) -> None:
    remote = RemoteStage("stage", stage)
    async with ending_in(60):
        left_s: Any = await remote.tell()
    assert 50 < left_s <= 60
    unlimited: Any = await remote.tell()
    assert unlimited is None


async def test_a_stage_ends_in_time_though_nobody_cancels_it(stage: Any) -> None:
    with pytest.raises(DeadlineExceeded):
        await stage.hang.remote(left_s=0.1)
    assert await stage.count.remote() == (1, 1)


@pytest.mark.parametrize("method", ["sample", "sample_observed"])
async def test_the_engine_ends_in_time_though_nobody_cancels_it(method: str) -> None:
    engine = serve.run(serve.deployment(EchoReplica).bind(), _local_testing_mode=True)

    async def sample() -> None:
        if method == "sample":
            await engine.sample.remote(REQUEST, left_s=0.1)
        else:
            async for _ in engine.options(stream=True).sample_observed.remote(REQUEST, 0.1):
                pass

    with pytest.raises(DeadlineExceeded):
        await sample()
    assert await engine.counts.remote() == (1, 1)
