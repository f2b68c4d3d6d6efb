"""Runs all checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from generation.engines.choice import (
    choose_engine,
)
from nl2sql.errors import QuorumError
from nl2sql.settings import Settings
from serve_app.operations.checks.check import Check
from serve_app.operations.checks.databases import check_databases
from serve_app.operations.checks.machine import check_cores, check_disk, check_memory
from serve_app.operations.checks.models import (
    check_embedder,
    check_openvino,
    check_server,
    check_vllm,
    check_weights,
)
from serve_app.operations.checks.service import check_identity, check_ports, check_speed


def run_checks(settings: Settings) -> Iterator[Check]:
    """Runs all checks one after the other; none of them changes anything."""
    yield check_cores(settings)
    if not settings.model.is_remote:
        yield check_memory(settings)
    yield check_disk(settings)
    if settings.model.is_remote:
        yield from _guarded("model's server", lambda: list(check_server(settings)))
    elif choose_engine(settings.model) == "openvino":
        yield check_openvino()
    else:
        yield check_vllm()
    yield from _guarded("embedded PostgreSQL", lambda: check_databases(settings))
    if not settings.model.is_remote:
        yield from _guarded("weights", lambda: [check_weights(settings)])
    yield check_embedder(settings)
    yield check_identity(settings)
    yield from check_ports(settings)
    yield check_speed(settings)


def _guarded(name: str, check: Callable[[], list[Check]]) -> list[Check]:
    try:
        return check()
    except QuorumError as error:
        return [Check(name, "failed", error.message, error.hint)]
