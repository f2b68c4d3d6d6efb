"""The service on a real Ray, with a model that echoes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from ray import serve

from serve_app.composition.wiring import Wiring
from serve_app.operations.background import service_url
from serve_app.ray.running import run_application, stop_service
from serve_app.ray.starting import start_serve
from serve_app.settings.service import ObservabilitySettings
from tests.serve_app.echo_engine import EchoEngine
from tests.serve_app.echo_replica import EchoReplica


@contextmanager
def serving(
    wiring: Wiring,
    observability: ObservabilitySettings | None = None,
    *,
    engine: type[EchoEngine] = EchoEngine,
    **served: Any,
) -> Iterator[str]:
    """The address of the wiring's service, with these keys of ``serve`` set otherwise."""
    settings = wiring.settings
    update: dict[str, Any] = {"serve": settings.serve.model_copy(update=served)}
    if observability is not None:
        update["observability"] = observability
    settings = settings.model_copy(update=update)
    deployment = serve.deployment(
        EchoReplica, name="engine", ray_actor_options={"num_cpus": 0.1}, max_ongoing_requests=64
    )
    start_serve(settings)
    run_application(replace(wiring, settings=settings), deployment.bind(engine))
    try:
        yield service_url(settings)
    finally:
        stop_service()
