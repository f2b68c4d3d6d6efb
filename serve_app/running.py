"""Starts and stops the service in this process."""

from __future__ import annotations

import os

import ray
from ray import serve
from ray.serve import Application

from serve_app.builder import build_application
from serve_app.http.front import pick_front_settings
from serve_app.http.proxy import prepare_proxy
from serve_app.wiring import Wiring

APPLICATION = "quorumsql"


def start_service(wiring: Wiring, engine: Application | None = None) -> None:
    """Starts Ray (or joins the cluster of RAY_ADDRESS) and runs the application in it.

    Returns when every replica is up. ``engine`` replaces the language model's deployment.
    """
    settings = wiring.settings.serve
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    prepare_proxy(pick_front_settings(wiring.settings), wiring.settings.home)
    ray.init(
        # Without an address of its own, never join a cluster that happens to run here.
        address=os.environ.get("RAY_ADDRESS", "local"),
        include_dashboard=settings.dashboard,
        log_to_driver=False,
        configure_logging=False,
    )
    serve.start(http_options={"host": settings.host, "port": settings.port})
    serve.run(build_application(wiring, engine), name=APPLICATION, route_prefix="/")


def stop_service() -> None:
    """Stops the application, and Ray with it when it was started here."""
    serve.shutdown()
    ray.shutdown()
