"""``quorumsql audit`` and ``quorumsql forget``: what the index records of people's questions."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from nl2sql.errors import SettingsError
from retrieval.index_store.audit_store import AuditStore
from serve_app.cli.context import CliContext
from serve_app.cli.index import call_index
from serve_app.cli.output import Output, confirm, prints
from serve_app.service.request_checks import check_session

_COLUMNS = ("asked_at", "principal", "database", "question", "outcome", "sql", "row_count")


@prints
def audit(
    context: typer.Context,
    as_: Annotated[str, typer.Option("--as", help="Only questions of this principal.")] = "",
    days: Annotated[
        float | None, typer.Option(min=0, help="Only questions of the last days.")
    ] = None,
    most: Annotated[int, typer.Option(min=1, help="At most so many, the last ones.")] = 1000,
) -> Output:
    """Print the audit log of the index; with --json, whole."""
    cli: CliContext = context.obj
    if not cli.settings.audit.enabled:
        raise SettingsError("No audit log is kept.", hint="Set `audit.enabled: true`.")
    since = None if days is None else datetime.now(UTC) - timedelta(days=days)
    entries = call_index(
        cli.settings, lambda _, store: AuditStore(store).read(most=most, principal=as_, since=since)
    )
    document = [asdict(entry) | {"asked_at": entry.asked_at.astimezone(UTC)} for entry in entries]
    return Output(document, columns=_COLUMNS)


@prints
def forget(
    context: typer.Context,
    session: Annotated[str, typer.Option(help="Only sessions with this id.")] = "",
    as_: Annotated[str, typer.Option("--as", help="Only sessions of this principal.")] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> Output:
    """Delete stored conversations: all, those with an id, or those of a principal."""
    cli: CliContext = context.obj
    principal = cli.settings.identity.principal(as_) if as_ else None
    if session:
        check_session(session)
    whose = f" of {as_}" if as_ else ""
    which = f"the sessions {session}" if session else "all sessions"
    confirm(f"Delete {which}{whose}?", yes=yes)
    _, turns = call_index(
        cli.settings,
        lambda wiring, store: wiring.build_conversations(store, wiring.build_guard()).delete(
            principal, session
        ),
    )
    return Output({"deleted": turns}, f"Deleted {turns} questions.")
