"""``quorumsql sessions``: deletes stored conversations."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from nl2sql.settings import Settings
from nl2sql.types import Principal
from serve_app.cli.context import CliContext
from serve_app.cli.index.opening import open_index
from serve_app.cli.output import Output, confirm, prints
from serve_app.cli.terminal import CONSOLE
from serve_app.service.sessions import check_session

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)


@app.callback()
def sessions() -> None:
    """Stored conversations contain questions and queries, never rows."""


@app.command("clear")
@prints
def clear(
    context: typer.Context,
    session: Annotated[str, typer.Option(help="Only sessions with this id.")] = "",
    as_: Annotated[str, typer.Option("--as", help="Only sessions of this principal.")] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> Output:
    """Delete conversations: all, those with an id, or those of a principal."""
    cli: CliContext = context.obj
    principal = cli.settings.identity.principal(as_) if as_ else None
    if session:
        check_session(session)
    whose = f" of {as_}" if as_ else ""
    which = f"the sessions {session}" if session else "all sessions"
    confirm(f"Delete {which}{whose}?", yes=yes)
    turns = asyncio.run(_clear(cli.settings, principal, session))
    return Output(
        {"deleted": turns},
        lambda: CONSOLE.print(f"Deleted {turns} questions.", highlight=False),
    )


async def _clear(settings: Settings, principal: Principal | None, session: str) -> int:
    async with open_index(settings) as (wiring, store):
        kept = wiring.build_sessions(store, wiring.build_guard())
        return await kept.clear(principal=principal, session=session)
