"""``quorumsql audit``: the audit log in the index."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from nl2sql.errors import SettingsError
from nl2sql.settings import Settings
from retrieval.index_store.audit_store import AuditEntry, AuditStore
from serve_app.cli.context import CliContext
from serve_app.cli.index.opening import open_index


def audit(
    context: typer.Context,
    as_: Annotated[str, typer.Option("--as", help="Only questions of this principal.")] = "",
    days: Annotated[
        float | None, typer.Option(min=0, help="Only questions of the last days.")
    ] = None,
    most: Annotated[int, typer.Option(min=1, help="At most so many, the last ones.")] = 1000,
) -> None:
    """Print the audit log as JSON lines, oldest first: who asked what, and which queries ran."""
    cli: CliContext = context.obj
    if not cli.settings.audit.table:
        file = cli.settings.audit.file
        raise SettingsError(
            "No audit log is kept in the index.",
            hint=f"It is in {file}." if file else "Set `audit.table: true`, or `audit.file`.",
        )
    since = None if days is None else datetime.now(UTC) - timedelta(days=days)
    for entry in asyncio.run(_read(cli.settings, as_, since, most)):
        shown = asdict(entry) | {"asked_at": entry.asked_at.astimezone(UTC).isoformat()}
        typer.echo(json.dumps(shown, ensure_ascii=False))


async def _read(
    settings: Settings, principal: str, since: datetime | None, most: int
) -> list[AuditEntry]:
    async with open_index(settings) as (_, store):
        return await AuditStore(store).read(most=most, principal=principal, since=since)
