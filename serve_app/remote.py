"""Makes a deployment handle look like the stage it wraps.

The pipeline calls coroutines; whether they run here or in another replica it does not know. Errors
of ours come back as they were raised, and a cancelled call cancels the remote one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ray.exceptions import RayActorError, RayTaskError
from ray.serve.exceptions import (
    BackPressureError,
    DeploymentUnavailableError,
    RequestCancelledError,
)
from ray.serve.handle import DeploymentHandle

from nl2sql.errors import QuorumError, Unavailable
from nl2sql.progress import is_observed, report_sampling
from nl2sql.types import Completions, Progress, SamplingRequest


class RemoteStage:
    """Any stage behind a handle; ``name`` is what errors call it."""

    def __init__(self, name: str, handle: DeploymentHandle[Any]) -> None:
        self._name = name
        self._handle = handle

    def __getattr__(self, method: str) -> Callable[..., Awaitable[Any]]:
        if method.startswith("_"):
            raise AttributeError(method)

        async def call(*arguments: Any, **options: Any) -> Any:
            response = getattr(self._handle, method).remote(*arguments, **options)
            with _translate(self._name, response):
                return await response

        return call


class RemoteEngine(RemoteStage):
    """The engine behind a handle; it tells a question's observer how far it is."""

    def __init__(self, handle: DeploymentHandle[Any]) -> None:
        super().__init__("engine", handle)
        self._streaming = handle.options(stream=True)

    async def sample(self, request: SamplingRequest) -> Completions:
        """See ``Engine.sample``."""
        is_streamed = is_observed()
        handle = self._streaming.sample_observed if is_streamed else self._handle.sample
        response = handle.remote(request)
        with _translate("engine", response):
            if not is_streamed:
                whole: Completions = await response
                return whole
            async for item in response:
                if not isinstance(item, Progress):
                    drawn: Completions = item
                    return drawn
                report_sampling(response, item)
        raise Unavailable("The engine gave no answer.", hint="Try again later.")


@contextmanager
def _translate(name: str, response: Any) -> Iterator[None]:
    """Inside, the response of the stage ``name`` is waited for."""
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
    ) as error:
        raise Unavailable(
            f"The {name} does not answer right now.",
            hint="It restarts or is overloaded; try again later.",
        ) from error
