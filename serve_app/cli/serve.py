"""``quorumsql serve`` and ``quorumsql stop``."""

from __future__ import annotations

import asyncio
import signal
import threading
from typing import Annotated

import typer

from execution.postgres.embedded import EmbeddedServer
from nl2sql.errors import DatabaseUnavailable
from serve_app.cli.context import CliContext, name_command
from serve_app.cli.output import Output, prints
from serve_app.cli.terminal import CONSOLE, TerminalReporter
from serve_app.operations.background import (
    check_port,
    is_ready,
    service_url,
    spawn_service,
    spawned_process,
    stop_spawned,
    wait_until_ready,
)
from serve_app.operations.preparation import (
    prepare,
    pull_model,
    start_embedded_server,
    stop_unused_server,
)
from serve_app.ray import running

# The interval between checks of the embedded PostgreSQL.
_WATCH_S = 5


def serve(
    context: typer.Context,
    background: Annotated[
        bool,
        typer.Option("--background", help="Run it in the background; `quorumsql stop` stops it."),
    ] = False,
) -> None:
    """Prepare what is missing and serve until Ctrl-C."""
    cli: CliContext = context.obj
    url = service_url(cli.settings)
    if is_ready(url):
        CONSOLE.print(f"Already serving at {url}.", highlight=False)
    elif background:
        serve_in_background(cli)
    else:
        _serve_here(cli)
        return
    print_next_steps(url)


def serve_in_background(cli: CliContext) -> None:
    """Prepares in this process to show progress, then starts the service and waits for it."""
    settings = cli.settings
    if spawned_process(settings.home) is None:
        check_port(settings.serve)  # before minutes of preparation
    reporter = TerminalReporter()
    asyncio.run(prepare(settings, reporter, databases=list(settings.databases), strict=False))
    pull_model(settings)
    with reporter.step("Ray Serve with the language model") as step:
        if spawned_process(settings.home) is None:
            spawn_service(cli.config, settings.home)
        wait_until_ready(service_url(settings), settings.home)
        step.finish(f"ready at {service_url(settings)}")


@prints
def stop(context: typer.Context) -> Output:
    """Stop the service that `serve --background` started."""
    cli: CliContext = context.obj
    stopped = stop_spawned(cli.settings.home)
    stop_unused_server(cli.settings)
    told = "Stopped." if stopped else "No service was running in the background."
    return Output({"stopped": stopped}, lambda: CONSOLE.print(told))


def print_next_steps(url: str) -> None:
    """Prints how to ask the next question."""
    command = name_command()
    CONSOLE.print(
        f"\nOpen {url} in a browser, or ask in a shell:\n"
        f'  {command} ask "How many employees work in each department?"\n'
        f"  curl -s {url}/query -H 'content-type: application/json' "
        '-d \'{"question": "Which five customers have the most orders?"}\'\n'
        f"Interface: {url}/docs. Stop it with `{command} stop`.",
        highlight=False,
        soft_wrap=True,
        markup=False,
    )


def _serve_here(cli: CliContext) -> None:
    done = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: done.set())
    settings = cli.settings
    check_port(settings.serve)  # before minutes of preparation
    reporter = TerminalReporter()
    wiring = asyncio.run(
        prepare(settings, reporter, databases=list(settings.databases), strict=False)
    )
    pull_model(settings)
    with reporter.step("Ray Serve with the language model") as step:
        running.start_service(wiring)
        step.finish(f"ready at {service_url(settings)}")
    try:
        print_next_steps(service_url(settings))
        server = start_embedded_server(settings)
        while not done.wait(_WATCH_S):
            _restart_if_stopped(server)
    finally:
        CONSOLE.print("Stopping.")
        running.stop_service()


def _restart_if_stopped(server: EmbeddedServer | None) -> None:
    """Restarts the server if it stopped. A failure is printed and retried at the next check."""
    try:
        if server is not None:
            server.ensure_running()
    except DatabaseUnavailable as error:
        CONSOLE.print(str(error), highlight=False)
