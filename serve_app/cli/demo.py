"""``quorumsql demo``: runs the whole service once, with a question of its own."""

from __future__ import annotations

import time

import typer

from quorumsql.client import Client
from serve_app.cli.answers import print_answer
from serve_app.cli.context import CliContext, name_command
from serve_app.cli.output import Output, prints
from serve_app.cli.serve import print_next_steps, serve_in_background
from serve_app.cli.terminal import CONSOLE, show_progress
from serve_app.operations import background

QUESTION = "How many orders were cancelled?"


@prints
def demo(
    context: typer.Context,
    keep: bool = typer.Option(False, "--keep", help="Leave the service running afterwards."),
) -> Output:
    """Start the service, ask one question over HTTP, show the answer and its trace, stop."""
    cli: CliContext = context.obj
    url = background.service_url(cli.settings)
    started = not background.is_ready(url)
    if started:
        serve_in_background(cli)
    try:
        start = time.perf_counter()
        with show_progress() as show, Client(url) as client:
            answer = client.ask(QUESTION, trace=True, show=show)
        seconds = time.perf_counter() - start
    finally:
        if started and not keep:
            background.stop_spawned(cli.settings.home)

    def render() -> None:
        print_answer(answer, seconds=seconds)
        _print_next(url, runs=keep or not started)

    return Output(answer, render, 0 if answer.outcome == "answered" else 1)


def _print_next(url: str, *, runs: bool) -> None:
    if runs:
        print_next_steps(url)
    else:
        CONSOLE.print(
            "\nThe demo has stopped its service. To ask the next question:\n"
            f"  {name_command()} serve --background\n"
            f'  {name_command()} ask "How many employees work in each department?"',
            highlight=False,
            markup=False,
        )
