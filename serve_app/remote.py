"""Makes a deployment handle look like the stage it wraps.

The pipeline calls coroutines; whether they run here or in another replica it does not know. Errors
of ours come back as they were raised, and a cancelled call cancels the remote one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from ray.exceptions import RayActorError, RayTaskError
from ray.serve.exceptions import (
    BackPressureError,
    DeploymentUnavailableError,
    RequestCancelledError,
)
from ray.serve.handle import DeploymentHandle

from nl2sql.errors import QuorumError, Unavailable


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
            try:
                return await response
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
                    f"The {self._name} does not answer right now.",
                    hint="It restarts or is overloaded; try again later.",
                ) from error

        return call
