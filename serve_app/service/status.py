"""``GET /status``: how the service does, for those who operate it.

It names files, databases and codes, and the problems of parts; no settings, no texts of questions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from nl2sql.errors import Forbidden, Unavailable
from nl2sql.settings import Settings
from nl2sql.trace_rendering import build_pace
from nl2sql.types import Principal
from quorumsql.contract.service_status import (
    DeploymentResponse,
    IndexStateResponse,
    PolicyStateResponse,
    ServiceStatusResponse,
)
from retrieval.index_store.generations import IndexHead
from serve_app.service.history import render_time
from serve_app.service.query_service import QueryService
from serve_app.service.rights import find_rights

_REVISION_CHARS = 12

Deployments = Callable[[], Awaitable[Sequence[DeploymentResponse]]]


class Heads(Protocol):
    """Knows the live indexes."""

    async def heads(self) -> list[IndexHead]:
        """Those of all databases. Raise Unavailable."""
        ...


@dataclass(frozen=True, slots=True)
class LoadedPolicy:
    """The policy file of a database as the service loaded it; empty: there is none."""

    database: str
    file: str = ""
    revision: str = ""


async def list_no_deployments() -> Sequence[DeploymentResponse]:
    """For a service without Ray."""
    return ()


def describe_policies(settings: Settings) -> tuple[LoadedPolicy, ...]:
    """The policies of all databases, by their files now. Raises OSError."""
    return tuple(
        LoadedPolicy(name, database.policy.name, _hash_file(database.policy))
        if database.policy is not None
        else LoadedPolicy(name)
        for name, database in settings.databases.items()
    )


def _hash_file(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:_REVISION_CHARS]


class StatusService:
    """The state of one service."""

    def __init__(
        self,
        settings: Settings,
        queries: QueryService,
        index: Heads,
        policies: Sequence[LoadedPolicy],
        deployments: Deployments = list_no_deployments,
    ) -> None:
        self._settings = settings
        self._queries = queries
        self._index = index
        self._policies = tuple(policies)
        self._deployments = deployments

    async def read(self, principal: Principal) -> ServiceStatusResponse:
        """The state now, of the databases that the principal may ask.

        Raises Forbidden.
        """
        if not find_rights(self._settings, principal).operate:
            raise Forbidden(
                "You may not see the state of the service.",
                hint="page.operate_roles names the roles that may.",
            )
        names = self._settings.database_names(principal)
        parts = await self._queries.readiness()
        pace = await self._queries.pace()
        figures = self._queries.recorder.figures
        return ServiceStatusResponse(
            ready=bool(self._queries.list_ready(parts)),
            # The names of parts contain those of all databases.
            parts={}
            if principal.access.databases
            else {name: problem or "ok" for name, problem in parts.items()},
            pace=build_pace(pace) if pace else None,
            figures=figures.read(),
            deployments=list(await self._deployments()),
            index=await self._read_index(names),
            policy=[
                PolicyStateResponse(database=each.database, file=each.file, revision=each.revision)
                for each in self._policies
                if each.database in names
            ],
            errors=figures.read_errors(),
            today=figures.read_today(),
        )

    async def _read_index(self, names: Sequence[str]) -> list[IndexStateResponse]:
        try:
            heads = await self._index.heads()
        except Unavailable:
            return []
        now = datetime.now(UTC)
        return [
            IndexStateResponse(
                database=head.database,
                built_at=render_time(head.indexed_at),
                age_s=round((now - head.indexed_at).total_seconds(), 1),
                tables=head.tables,
            )
            for head in heads
            if head.database in names
        ]
