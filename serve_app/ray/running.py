"""Starts and stops the service in this process."""

from __future__ import annotations

import os
import re

import ray
from ray import serve
from ray.serve import Application

from nl2sql.errors import Unavailable
from quorumsql.loopback import is_loopback
from serve_app.composition.wiring import Wiring
from serve_app.http.middleware import pick_middleware_settings
from serve_app.http.proxy import prepare_proxy
from serve_app.operations.background import check_port
from serve_app.ray.builder import build_application
from serve_app.ray.starting import LOCAL, check_exposure, connect_ray, find_address
from serve_app.ray.tracing import prepare_tracing

APPLICATION = "quorumsql"
# A replica ends a request in time unless it hangs; then Ray's proxy ends it, this much later.
_PROXY_SPARE_S = 2.0
# The last line of a replica's traceback, where the error is one of ours.
_OWN_ERROR = re.compile(r"^nl2sql\.errors\.\w+: (?P<text>.+)$", re.MULTILINE)


def start_service(wiring: Wiring, engine: Application | None = None) -> None:
    """Starts Ray (or joins the cluster of RAY_ADDRESS) and runs the application in it.

    Returns when every replica is ready. ``engine`` replaces the language model's deployment. Raises
    SettingsError if the port is taken or anonymous clients of other machines would be answered,
    Unavailable if a replica does not start; then everything is stopped.
    """
    settings = wiring.settings.serve
    check_exposure(wiring.settings, is_exposed=not is_loopback(settings.host))
    address = find_address()
    if address == LOCAL:
        check_port(settings)
    # A replica that answers no check does not answer the request to end either.
    os.environ.setdefault("RAY_SERVE_FORCE_STOP_UNHEALTHY_REPLICAS", "1")
    # How soon a proxy that has died is replaced; Ray's default is 10 s.
    os.environ.setdefault("RAY_SERVE_PROXY_HEALTH_CHECK_PERIOD_S", "1")
    prepare_proxy(pick_middleware_settings(wiring.settings), wiring.settings.home)
    prepare_tracing(wiring.settings.observability)
    connect_ray(
        address,
        include_dashboard=settings.dashboard,
        configure_logging=False,
        _metrics_export_port=wiring.settings.observability.metrics_port,
    )
    try:
        timeout_s = wiring.settings.limits.request_timeout_ms / 1000 + _PROXY_SPARE_S
        options = {"host": settings.host, "port": settings.port, "request_timeout_s": timeout_s}
        serve.start(http_options=options)
        serve.run(build_application(wiring, engine), name=APPLICATION, route_prefix="/")
    except RuntimeError as error:  # Serve raises nothing more specific for a failed deployment
        reason = find_reason(read_messages())
        stop_service()
        raise Unavailable(
            f"The service did not start: {reason or error}",
            hint="" if reason else "See Ray's logs under /tmp/ray/session_latest/logs.",
        ) from error
    except BaseException:
        stop_service()
        raise


def stop_service() -> None:
    """Stops the application, and Ray if it was started here."""
    serve.shutdown()
    ray.shutdown()


def read_messages() -> list[str]:
    """Serve's status message of each deployment; none if Serve does not answer."""
    try:
        deployments = serve.status().applications[APPLICATION].deployments.values()
    except (KeyError, RuntimeError, ray.exceptions.RayError):
        return []
    return [deployment.message for deployment in deployments]


def find_reason(messages: list[str]) -> str:
    """The first of our own errors in Serve's messages; empty if there is none.

    >>> find_reason(["", "Traceback …\\nnl2sql.errors.EngineUnavailable: It has died.\\n"])
    'It has died.'
    """
    found = (_OWN_ERROR.search(message) for message in messages)
    return next((match["text"].strip() for match in found if match), "")
