"""The class that runs in the replica of the ingress.

The process that deploys it imports this module too, but needs neither services nor routes.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Mapping
from typing import Any

from opentelemetry import trace
from ray.serve.handle import DeploymentHandle
from starlette.types import ASGIApp

from serve_app.composition.stages import CpuStages
from serve_app.composition.wiring import Wiring
from serve_app.ray.metrics import RayMeter
from serve_app.ray.remote import RemoteEngine
from serve_app.ray.stages import reach_stages
from serve_app.service.question_log import configure_logging

_SWITCH_S = 0.0005


class Ingress:
    """The HTTP interface and the pipeline; with ``handles`` the CPU stages are deployments."""

    def __init__(
        self,
        wiring: Wiring,
        engine: DeploymentHandle[Any],
        handles: Mapping[str, DeploymentHandle[Any]] | None = None,
    ) -> None:
        from serve_app.composition.services import build_services
        from serve_app.service.recorder import QuestionRecorder

        # SQL is parsed in threads beside the event loop. Each time the loop waits for a socket, a
        # thread keeps the interpreter for this interval (5 ms by default), and the waits add up.
        sys.setswitchinterval(_SWITCH_S)
        model = RemoteEngine(engine)
        store = wiring.build_index_store()
        if handles:
            cpu_stages = reach_stages(handles)
        else:
            executor = wiring.build_executor()
            cpu_stages = CpuStages.build_here(wiring, model, store, executor)
        configure_logging()
        self._services = build_services(
            wiring,
            model,
            cpu_stages,
            store,
            recorder=QuestionRecorder(wiring.settings, RayMeter(), trace.get_tracer("quorumsql")),
        )

    def __serve_build_asgi_app__(self) -> ASGIApp:
        """Ray Serve calls this once after the constructor."""
        from serve_app.http.app import build_http_app

        app = build_http_app(self._services)
        # Objects loaded so far are permanent. Excluding them from garbage collection avoids pauses
        # of the event loop of a tenth of a second.
        gc.collect()
        gc.freeze()
        return app
