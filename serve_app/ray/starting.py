"""Starts Ray on this machine, or joins a cluster: for the service and for batch jobs.

Ray's own processes take seconds to start. So nothing is imported here that only the stages need,
and Serve only when they are starting.
"""

from __future__ import annotations

import logging
import os
import threading
from concurrent.futures import Future
from typing import Any

import ray

from nl2sql.errors import Unavailable
from quorumsql.loopback import is_loopback
from serve_app.http.proxy_settings import prepare_proxy
from serve_app.operations.background import check_exposure, check_port
from serve_app.ray.tracing import prepare_tracing
from serve_app.settings import Settings

LOCAL = "local"
"""The address of a Ray of its own; prevents Ray from joining one that happens to run here."""
# A replica ends a request in time unless it hangs; then Ray's proxy ends it, this much later.
_PROXY_SPARE_S = 2.0


def start_serve(settings: Settings) -> None:
    """Starts Ray, or joins the cluster of RAY_ADDRESS, and in it Serve with its HTTP proxy.

    Raises SettingsError if the port is taken or anonymous clients of other machines would be
    answered, Unavailable if Ray does not start.
    """
    serving = settings.serve
    check_exposure(settings, is_exposed=not is_loopback(serving.host))
    address = find_address()
    if address == LOCAL:
        check_port(serving)
    # A replica that answers no check does not answer the request to end either.
    os.environ.setdefault("RAY_SERVE_FORCE_STOP_UNHEALTHY_REPLICAS", "1")
    # How soon a proxy that has died is replaced; Ray's default is 10 s.
    os.environ.setdefault("RAY_SERVE_PROXY_HEALTH_CHECK_PERIOD_S", "1")
    prepare_proxy(settings, settings.home)
    prepare_tracing(settings.observability)
    connect_ray(
        address,
        include_dashboard=serving.dashboard,
        configure_logging=False,
        _metrics_export_port=settings.observability.metrics_port,
    )
    from ray import serve

    # It would tell that Serve has started, between the steps of the preparation.
    logging.getLogger("ray.serve").setLevel(logging.ERROR)
    timeout_s = settings.limits.request_timeout_ms / 1000 + _PROXY_SPARE_S
    options = {"host": serving.host, "port": serving.port, "request_timeout_s": timeout_s}
    try:
        serve.start(http_options=options)
    except BaseException:
        serve.shutdown()
        ray.shutdown()
        raise


def start_serve_beside(settings: Settings) -> Future[None]:
    """As ``start_serve``, in a thread, while this one goes on; the result says when it is done."""
    started: Future[None] = Future()

    def start() -> None:
        try:
            start_serve(settings)
        except BaseException as error:
            started.set_exception(error)
        else:
            started.set_result(None)
        # The kernel ends Ray's processes with the thread that started them (prctl(2),
        # PR_SET_PDEATHSIG).
        threading.Event().wait()

    threading.Thread(target=start, name="ray", daemon=True).start()
    return started


def find_address() -> str:
    """The cluster of RAY_ADDRESS, or ``LOCAL``."""
    return os.environ.get("RAY_ADDRESS", LOCAL)


def connect_ray(address: str, **options: Any) -> None:
    """Starts or joins Ray with these options of ``ray.init``. Raises Unavailable."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # It would tell of tokens and signal handlers, which are as they should be.
    logging.getLogger("ray").setLevel(logging.ERROR)
    # Ray's processes call each other by gRPC, which would send that through http_proxy.
    here = ("localhost", "127.0.0.1", ray.util.get_node_ip_address())
    os.environ.setdefault("no_grpc_proxy", ",".join((*here, os.environ.get("no_proxy", ""))))
    try:
        ray.init(address=address, log_to_driver=False, **options)
    except Exception as error:  # Ray raises plain exceptions, as when a busy machine is too slow
        ray.shutdown()
        raise Unavailable(
            f"Ray did not start: {str(error).strip().partition(chr(10))[0]}",
            hint="Close other programs and start again; RAY_ADDRESS names a cluster to join.",
        ) from error
