"""``quorumsql serve``, ``status`` and ``mcp``: runs the service, and tells how it does.

What is slow to import is imported where it is needed: ``status`` asks a service that runs.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import wait
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from nl2sql.errors import DatabaseUnavailable, Unavailable
from quorumsql.client import connect
from quorumsql.contract.identity import StatusResponse
from quorumsql.loopback import is_loopback
from serve_app.cli.context import CliContext, name_command
from serve_app.cli.output import Output, print_document, prints, say, show_value
from serve_app.cli.service_or_process import PrincipalOption, UrlOption
from serve_app.cli.terminal import TerminalReporter
from serve_app.operations.background import (
    check_exposure,
    check_passwords,
    check_port,
    is_ready,
    service_url,
    spawn_service,
    spawned_process,
    stop_spawned,
)
from serve_app.settings import Settings

if TYPE_CHECKING:
    from execution.postgres.embedded import EmbeddedServer

# The interval between checks of the embedded PostgreSQL.
_WATCH_S = 5
# The exit codes of shells for a program that a signal ended.
_INTERRUPTED, _TERMINATED = 130, 143


@prints
def serve(
    context: typer.Context,
    background: Annotated[
        bool,
        typer.Option("--background", help="Run it in the background, and wait until it is ready."),
    ] = False,
    stop: Annotated[
        bool, typer.Option("--stop", help="Stop the service that runs in the background.")
    ] = False,
) -> Output:
    """Prepare what is missing and serve until Ctrl-C."""
    cli: CliContext = context.obj
    if stop:
        return _stop(cli.settings)
    url = service_url(cli.settings)
    document = {"url": url, "ready": True}
    if is_ready(url):
        say(f"Already serving at {url}.")
    elif background:
        _serve_in_background(cli)
    else:
        _check(cli.settings)
        _serve_here(cli)
        return Output(document | {"ready": False}, "Stopped.")
    how_to_stop = "Stop it where it runs."
    if spawned_process(cli.settings.home) is not None:
        how_to_stop = f"Stop it with `{_name_command(cli)} serve --stop`."
    return Output(document, lambda: _print_next_steps(cli, how_to_stop))


def _stop(settings: Settings) -> Output:
    from serve_app.operations.preparation import stop_unused_server

    stopped = stop_spawned(settings.home)
    stop_unused_server(settings)
    told = "Stopped." if stopped else "No service was running in the background."
    if not stopped and is_ready(url := service_url(settings)):
        told += f" The one at {url} runs in a terminal or elsewhere: stop it there, with Ctrl-C."
    return Output({"stopped": stopped}, told)


def _serve_in_background(cli: CliContext) -> None:
    """Starts the service in another process, which shows here how it starts until it is ready."""
    if (running := spawned_process(cli.settings.home)) is not None:
        raise Unavailable(
            f"A service runs in the background, but is not ready at {service_url(cli.settings)}: "
            f"{' '.join(running.cmdline()[1:])}.",
            hint=f"`{_name_command(cli)} status` says why; `serve --stop` stops it. A service with "
            "other settings needs a `home` of its own.",
        )
    _check(cli.settings)
    spawn_service(cli.settings.home, partial(_serve_here, cli))


def _check(settings: Settings) -> None:
    """What can be known before minutes of preparation. Raises SettingsError."""
    check_exposure(settings, is_exposed=not is_loopback(settings.serve.host))
    check_port(settings.serve)
    check_passwords(settings)


def _name_command(cli: CliContext) -> str:
    return name_command() + (f" --config {cli.named}" if cli.named else "")


def _print_next_steps(cli: CliContext, how_to_stop: str) -> None:
    settings, url = cli.settings, service_url(cli.settings)
    name = settings.default_database or next(iter(settings.databases))
    question = "How many employees work in each department?"
    if not settings.by_name[name].demo:
        question = "Which tables are there?"
    say(
        f"\nOpen {url} in a browser, or ask in a shell:\n"
        f'  {_name_command(cli)} ask "{question}" --database {name}\n'
        f"  curl -s {url}/query -H 'content-type: application/json' "
        f'-d \'{{"question": "{question}", "database": "{name}"}}\'\n'
        f"Interface: {url}/docs. {how_to_stop}"
    )


def _serve_here(cli: CliContext, tell_ready: Callable[[], None] = lambda: None) -> None:
    settings = cli.settings
    # As Ray's own handler does.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    try:
        _start(settings, tell_ready)
    except (KeyboardInterrupt, SystemExit) as stopped:
        say("Stopped before the service was ready.")
        is_interrupted = isinstance(stopped, KeyboardInterrupt)
        raise typer.Exit(_INTERRUPTED if is_interrupted else _TERMINATED) from None
    from serve_app.operations.preparation import start_embedded_server
    from serve_app.ray.running import stop_service

    done = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: done.set())
    try:
        _print_next_steps(cli, "Stop it with Ctrl-C.")
        server = start_embedded_server(settings)
        while not done.wait(_WATCH_S):
            _restart_if_stopped(server)
    finally:
        say("Stopping.")
        stop_service()


def _start(settings: Settings, tell_ready: Callable[[], None]) -> None:
    """Returns when the service is ready. Ray starts beside our imports and the preparation."""
    from serve_app.ray.starting import start_serve_beside

    reporter = TerminalReporter()
    started = start_serve_beside(settings)
    from serve_app.operations.preparation import prepare, pull_model
    from serve_app.ray.running import run_application, stop_service

    try:
        names = list(settings.databases)
        wiring = asyncio.run(prepare(settings, reporter, databases=names, strict=False))
        pull_model(settings)
        started.result()
        with reporter.step("Ray Serve with the language model") as step:
            run_application(wiring)
            step.finish(f"ready at {service_url(settings)}")
        tell_ready()
    except BaseException:
        wait((started,))
        stop_service()
        raise


def _restart_if_stopped(server: EmbeddedServer | None) -> None:
    """Restarts the server if it stopped. A failure is printed and retried at the next check."""
    try:
        if server is not None:
            server.ensure_running()
    except DatabaseUnavailable as error:
        say(str(error))


@prints
def status(context: typer.Context, url: UrlOption = "", as_: PrincipalOption = "") -> Output:
    """Show whether the service is ready, its parts, and its model."""
    cli: CliContext = context.obj
    token = cli.settings.identity.read_token(as_) if as_ else ""
    with connect(url or service_url(cli.settings), token) as client:
        state = client.status()
    return Output(state, lambda: _print_status(state), 0 if state.ready else 1)


def _print_status(state: StatusResponse) -> None:
    say(f"ready: {show_value(state.ready)}")
    for part, problem in state.parts.items():
        say(f"{part}: {problem}")
    print_document(state.model_dump(exclude={"ready", "parts"}))


def mcp(context: typer.Context, principal: PrincipalOption = "") -> None:
    """Serve the Model Context Protocol over standard input and output, in this process.

    MCP clients start this command themselves. Messages and logs go to standard error.
    """
    from serve_app.in_process import open_services
    from serve_app.mcp.stdio import serve_stdio

    cli: CliContext = context.obj
    caller = cli.settings.identity.principal(principal)
    asyncio.run(serve_stdio(partial(open_services, cli.settings), caller))
