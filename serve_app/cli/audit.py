"""``quorumsql audit``: the audit log in the index."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from nl2sql.errors import SettingsError
from nl2sql.settings import Settings
from retrieval.index_store.audit_store import AuditEntry, AuditStore
from serve_app.cli.context import CliContext
from serve_app.cli.index.opening import open_index
from serve_app.cli.output import Lines, Output, prints, write_document


@prints
def audit(
    context: typer.Context,
    as_: Annotated[str, typer.Option("--as", help="Only questions of this principal.")] = "",
    days: Annotated[
        float | None, typer.Option(min=0, help="Only questions of the last days.")
    ] = None,
    most: Annotated[int, typer.Option(min=1, help="At most so many, the last ones.")] = 1000,
) -> Output:
    """Print the audit log of the index as JSON lines."""
    cli: CliContext = context.obj
    if not cli.settings.audit.table:
        file = cli.settings.audit.file
        raise SettingsError(
            "No audit log is kept in the index.",
            hint=f"It is in {file}." if file else "Set `audit.table: true`, or `audit.file`.",
        )
    since = None if days is None else datetime.now(UTC) - timedelta(days=days)
    entries = [
        asdict(entry) | {"asked_at": entry.asked_at.astimezone(UTC)}
        for entry in asyncio.run(_read(cli.settings, as_, since, most))
    ]
    return Output(Lines(entries), lambda: write_document(Lines(entries)))


async def _read(
    settings: Settings, principal: str, since: datetime | None, most: int
) -> list[AuditEntry]:
    async with open_index(settings) as (_, store):
        return await AuditStore(store).read(most=most, principal=principal, since=since)
