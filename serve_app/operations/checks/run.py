"""Runs all checks; those of this machine and of the service are here."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence

import psutil

from generation.engines.choice import (
    INSTALL_VLLM,
    choose_engine,
    has_gpu,
    read_gpu_names,
)
from nl2sql.errors import QuorumError
from quorumsql.loopback import is_loopback
from serve_app.operations.background import describe_port, is_ready, service_url
from serve_app.operations.checks import Check
from serve_app.operations.checks.databases import check_databases
from serve_app.operations.checks.models import (
    check_embedder,
    check_server,
    check_vllm,
    check_weights,
)
from serve_app.reporting import SILENT, Reporter
from serve_app.settings import Settings

# For weights, activations and interpreter of the 0.5B model; vLLM needs its KV cache in addition.
_ENGINE_GIB = {"vllm": 4, "openvino": 2}
_DASHBOARD_PORT = 8265


def check_cores(settings: Settings) -> Check:
    """Checks for a GPU, or enough CPU cores."""
    if has_gpu():
        names = ", ".join(read_gpu_names()) or "present"
        if settings.model.engine == "auto" and choose_engine(settings.model) != "vllm":
            return Check("GPU", "warning", f"{names}, but not used: vLLM is missing", INSTALL_VLLM)
        return Check("GPU", "ok", names)
    cores = len(os.sched_getaffinity(0))
    if cores < 2:
        return Check("cores", "warning", f"{cores} core, no GPU", "Expect slow answers.")
    return Check("cores", "ok", f"{cores} cores, no GPU")


def check_memory(settings: Settings) -> Check:
    """Checks the free memory for weights and KV cache."""
    free = psutil.virtual_memory().available / 2**30
    engine, key = choose_engine(settings.model), "max_model_len"
    needed = _ENGINE_GIB[engine]
    if engine == "vllm":
        needed, key = needed + settings.model.kv_cache_gib, "kv_cache_gib"
    if free < needed:
        return Check(
            "memory",
            "warning",
            f"{free:.1f} GiB free, about {needed} GiB needed",
            f"Lower model.{key} or close other programs.",
        )
    return Check("memory", "ok", f"{free:.1f} GiB free")


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
    if is_loopback(host):
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


def run_checks(
    settings: Settings, databases: Sequence[str] = (), reporter: Reporter = SILENT
) -> Iterator[Check]:
    """Runs all checks one after the other; none of them changes anything.

    ``databases`` are those to check, by default all. ``reporter`` learns of what takes long.
    """
    names = [settings.source_database(name) for name in databases or settings.databases]
    yield check_cores(settings)
    if not settings.model.is_remote:
        yield check_memory(settings)
    if settings.model.is_remote:
        yield from _guarded("model's server", lambda: list(check_server(settings)))
    elif choose_engine(settings.model) == "vllm":
        yield check_vllm()
    yield from _guarded("embedded PostgreSQL", lambda: check_databases(settings, names, reporter))
    if not settings.model.is_remote:
        yield from _guarded("weights", lambda: [check_weights(settings)])
    yield check_embedder(settings)
    yield check_identity(settings)
    yield from check_ports(settings)


def _guarded(name: str, check: Callable[[], list[Check]]) -> list[Check]:
    try:
        return check()
    except QuorumError as error:
        return [Check(name, "failed", error.message, error.hint)]
