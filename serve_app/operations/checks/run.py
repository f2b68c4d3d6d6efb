"""Runs all checks; those of this machine and of the service are here."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence

from generation.engines.choice import INSTALL_VLLM, choose_engine, has_gpu, read_gpu_names
from nl2sql.errors import QuorumError
from quorumsql.loopback import is_loopback
from serve_app.operations.background import check_exposure, describe_port, is_ready, service_url
from serve_app.operations.checks import Check
from serve_app.operations.checks.databases import check_databases
from serve_app.operations.checks.models import (
    check_embedder,
    check_engine,
    check_server,
    check_weights,
)
from serve_app.reporting import SILENT, Reporter
from serve_app.settings import Settings


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


def check_identity(settings: Settings) -> Iterator[Check]:
    """Checks that clients of other machines are identified. Raises SettingsError if none are."""
    host, identity = settings.serve.host, settings.identity
    check_exposure(settings, is_exposed=not is_loopback(host))
    identity.login.read_secret()
    tokens = [each.token_env for each in identity.principals.values() if each.token_env]
    if missing := [variable for variable in tokens if not os.environ.get(variable)]:
        yield Check(
            "identity",
            "warning",
            f"not set: {', '.join(missing)}",
            "These variables hold the tokens of principals, who cannot ask without them.",
        )
        return
    accepted = [f"{len(tokens)} principals with a token"] * bool(tokens)
    accepted += ["API keys"] * identity.api_keys
    accepted += [f"signed tokens of {identity.jwt.issuer}"] * identity.jwt.is_used
    accepted += ["sign-ins there"] * identity.login.is_used
    anonymous = f"all clients that reach {host} ask as the local principal"
    yield Check("identity", "ok", ", ".join(accepted) or anonymous)


def check_port(settings: Settings) -> Check:
    """Checks the service's port."""
    url, serve = service_url(settings), settings.serve
    if is_ready(url):
        return Check("service", "ok", f"answers at {url}")
    if problem := describe_port(serve.host, serve.port):
        remedy = "Stop that program, or set serve.port."
        return Check(f"port {serve.port}", "failed", problem, remedy)
    return Check(f"port {serve.port}", "ok", "free")


def run_checks(
    settings: Settings, databases: Sequence[str] = (), reporter: Reporter = SILENT
) -> Iterator[Check]:
    """Runs all checks one after the other; none of them changes anything.

    ``databases`` are those to check, by default all. ``reporter`` learns of what takes long.
    """
    names = [settings.source_database(name) for name in databases or settings.databases]
    yield check_cores(settings)
    if settings.model.is_remote:
        yield from _guarded("model's server", lambda: check_server(settings))
    else:
        yield from check_engine(settings)
    yield from _guarded("embedded PostgreSQL", lambda: check_databases(settings, names, reporter))
    if not settings.model.is_remote:
        yield from _guarded("weights", lambda: [check_weights(settings)])
    yield check_embedder(settings)
    yield from _guarded("identity", lambda: check_identity(settings))
    yield check_port(settings)


def _guarded(name: str, check: Callable[[], Iterable[Check]]) -> list[Check]:
    try:
        return list(check())
    except QuorumError as error:
        return [Check(name, "failed", error.message, error.hint)]
