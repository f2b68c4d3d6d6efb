"""Stages behind deployment handles.

The pipeline calls coroutines and does not know whether they run here or in another replica. Our own
errors are raised again unchanged, and cancelling a call cancels the remote one. Each call carries
the seconds that its request has left, so that the work ends in time even if its caller has died.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from grpc.aio import AioRpcError
from ray.exceptions import RayActorError, RayTaskError
from ray.serve.exceptions import (
    BackPressureError,
    DeploymentUnavailableError,
    RequestCancelledError,
)
from ray.serve.handle import DeploymentHandle

from nl2sql.deadline import read_left_s
from nl2sql.errors import QuorumError, Unavailable
from nl2sql.progress import is_observed, report_sampling
from nl2sql.types import Completions, Progress, SamplingRequest
from serve_app.ray.call_batcher import BatchedCall, CallBatcher

# The methods that are called for each candidate.
_FOR_EACH_CANDIDATE = frozenset({"guard", "explain", "assess", "repair"})


class RemoteStage:
    """A stage behind a handle: its methods are those of the stage in the replica.

    Error messages contain ``name``. A call raises DeadlineExceeded if the request has no time left.
    """

    def __init__(self, name: str, handle: DeploymentHandle[Any]) -> None:
        self._name = name
        # Over gRPC between the replicas, authenticated with Ray's token, a call takes half the
        # processor time that it takes as a task of Ray (docs/measurements.md).
        self._handle = handle.options(_by_reference=False)
        self._batcher = CallBatcher(self._send_batch)

    def __getattr__(self, method: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        """The method of the stage, as a call to the replica."""
        if method.startswith("_"):
            raise AttributeError(method)
        return partial(self._call, method)

    async def probe(self) -> tuple[tuple[str, str], ...]:
        """See ``Probe.probe``."""
        answer: tuple[tuple[str, str], ...] = await self._call("probe")
        return answer

    async def _call(self, method: str, *arguments: Any, **options: Any) -> Any:
        left_s = read_left_s()
        if method in _FOR_EACH_CANDIDATE:
            return await self._batcher.call(method, BatchedCall(arguments, options, left_s))
        response = getattr(self._handle, method).remote(*arguments, **options, left_s=left_s)
        with _translate(self._name, response):
            return await response

    async def _send_batch(self, method: str, calls: tuple[BatchedCall, ...]) -> Sequence[Any]:
        response = self._handle.call_together.remote(method, calls)
        with _translate(self._name, response):
            found: Sequence[Any] = await response
            return found


class RemoteEngine(RemoteStage):
    """The engine; it reports progress to the observer of a question."""

    def __init__(self, handle: DeploymentHandle[Any]) -> None:
        super().__init__("engine", handle)
        self._streaming = self._handle.options(stream=True)

    async def sample(self, request: SamplingRequest) -> Completions:
        """See ``Engine.sample``."""
        if not is_observed():
            drawn: Completions = await self._call("sample", request)
            return drawn
        response = self._streaming.sample_observed.remote(request, read_left_s())
        with _translate(self._name, response):
            async for item in response:
                if not isinstance(item, Progress):
                    drawn = item
                    return drawn
                report_sampling(response, item)
        raise Unavailable("The engine gave no answer.", hint="Try again later.")

    async def count_tokens(self, texts: tuple[str, ...]) -> tuple[int, ...]:
        """See ``Engine.count_tokens``."""
        counts: tuple[int, ...] = await self._call("count_tokens", texts)
        return counts


@contextmanager
def _translate(name: str, response: Any) -> Iterator[None]:
    """Translates Ray's errors while the block waits for the response of the stage ``name``."""
    try:
        yield
    except asyncio.CancelledError:
        response.cancel()
        raise
    except RayTaskError as error:
        cause = error.cause
        if isinstance(cause, QuorumError):
            raise cause from error
        raise
    except (
        RayActorError,
        BackPressureError,
        DeploymentUnavailableError,
        RequestCancelledError,
        AioRpcError,
    ) as error:
        raise Unavailable(
            f"The {name} does not answer.", hint="It is restarting or overloaded; try again later."
        ) from error
