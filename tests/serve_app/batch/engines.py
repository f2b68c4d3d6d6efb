"""Engines for jobs in tests, built inside the actor of a job."""

from __future__ import annotations

from typing import cast

from generation.engines import OpenEngine
from nl2sql.errors import SettingsError
from serve_app.composition.wiring import Wiring
from tests.serve_app.echo_engine import EchoEngine


class EchoBatchEngine(EchoEngine):
    """Answers a question with the question itself, read as SQL."""

    async def requests_in_flight(self) -> int:
        """Nothing is ever waiting."""
        return 0

    def check_health(self) -> None:
        """Always well."""

    async def close(self) -> None:
        """Holds nothing."""


def build_echo(wiring: Wiring) -> OpenEngine:
    """An engine that echoes."""
    return cast(OpenEngine, EchoBatchEngine())


def build_broken(wiring: Wiring) -> OpenEngine:
    """Raises SettingsError."""
    raise SettingsError("There are no weights.")
