"""Starts Ray on this machine, or joins a cluster: for the service and for batch jobs."""

from __future__ import annotations

import os
from typing import Any

import ray

from nl2sql.errors import SettingsError, Unavailable
from serve_app.settings import Settings

LOCAL = "local"
"""The address of a Ray of its own; prevents Ray from joining one that happens to run here."""


def find_address() -> str:
    """The cluster of RAY_ADDRESS, or ``LOCAL``."""
    return os.environ.get("RAY_ADDRESS", LOCAL)


def connect_ray(address: str, **options: Any) -> None:
    """Starts or joins Ray with these options of ``ray.init``. Raises Unavailable."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # Without it, SIGTERM prints a stack trace.
    os.environ.setdefault("RAY_DISABLE_FAILURE_SIGNAL_HANDLER", "1")
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


def check_exposure(settings: Settings, *, is_exposed: bool) -> None:
    """Raises SettingsError if other machines could ask anonymously and this is not allowed.

    Nobody opens a service to the network by accident.
    """
    if is_exposed and not (settings.identity.needs_token or settings.serve.allow_anonymous):
        raise SettingsError(
            "The service would answer anyone on the network: it listens beyond this machine, and "
            "no principal has a token.",
            hint="Name a token under identity.principals.NAME.token_env, set identity.api_keys or "
            "identity.jwt, or set serve.allow_anonymous: true if a proxy in front of it "
            "authenticates clients.",
        )
