"""Checks of the service: identity, ports, speed."""

from __future__ import annotations

import os
from collections.abc import Iterator

from nl2sql.settings import Settings
from nl2sql.speed import MEASURED_K
from serve_app.operations.background import describe_port, is_ready, read_pace, service_url
from serve_app.operations.checks.check import Check

_DASHBOARD_PORT = 8265
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def check_identity(settings: Settings) -> Check:
    """Checks that clients of other machines are identified by tokens."""
    host, identity = settings.serve.host, settings.identity
    if identity.needs_token:
        tokens = [
            principal.token_env for principal in identity.principals.values() if principal.token_env
        ]
        missing = [variable for variable in tokens if not os.environ.get(variable)]
        if (login := identity.login).client_secret_env and not os.environ.get(
            login.client_secret_env
        ):
            return Check(
                "identity",
                "failed",
                f"not set: {login.client_secret_env}",
                "It holds the secret for the identity provider; the service does not start.",
            )
        if missing:
            return Check(
                "identity",
                "warning",
                f"not set: {', '.join(missing)}",
                "These variables hold the tokens of principals, who cannot ask without them.",
            )
        accepted = [f"{len(tokens)} principals with a token"] * bool(tokens)
        accepted += ["API keys"] * identity.api_keys
        accepted += [f"signed tokens of {identity.jwt.issuer}"] * identity.jwt.is_used
        accepted += ["sign-ins there"] * identity.login.is_used
        return Check("identity", "ok", ", ".join(accepted))
    if host in _LOOPBACK:
        return Check("identity", "ok", f"all clients on {host} ask as the local principal")
    return Check(
        "identity",
        "warning",
        f"all clients that reach {host} ask as the local principal",
        "Give principals a token_env under identity, or listen on 127.0.0.1.",
    )


def check_ports(settings: Settings) -> Iterator[Check]:
    """Checks the ports of the service and of the dashboard."""
    url = service_url(settings)
    if is_ready(url):
        yield Check("service", "ok", f"answers at {url}")
        return
    ports = {settings.serve.port: "serve.port"}
    if settings.serve.dashboard:
        ports[_DASHBOARD_PORT] = "serve.dashboard: false"
    for port, key in ports.items():
        if problem := describe_port(settings.serve.host, port):
            yield Check(f"port {port}", "failed", problem, f"Stop that program, or set {key}.")
        else:
            yield Check(f"port {port}", "ok", "free")


def check_speed(settings: Settings) -> Check:
    """Reports the model speed that the running service measured, and the sampling deadline."""
    url = service_url(settings)
    pace = read_pace(url)
    if pace is None:
        return Check(
            "speed",
            "ok",
            "measured when the service starts; then shown here, in /readyz and in traces",
        )
    speed = "not measured: the model runs on a remote server"
    if pace["prompt_tokens_per_s"]:
        speed = (
            f"{pace['prompt_tokens_per_s']:,.0f} tokens a second of a prompt, "
            f"{pace['answer_tokens_per_s']:,.0f} of {MEASURED_K} answers together"
        )
    if (timeout_ms := pace["sampling_timeout_ms"]) is None:
        return Check("speed", "ok", f"{speed}; sampling has no deadline")
    return Check("speed", "ok", f"{speed}; sampling ends after {timeout_ms / 1000:.0f} s")
