"""``quorumsql status``: whether the service is ready, and how it does."""

from __future__ import annotations

import typer
from rich.markup import escape

from nl2sql.speed import MEASURED_K
from quorumsql.client import Client
from quorumsql.contract.status import StatusResponse
from quorumsql.contract.trace import PaceResponse
from serve_app.cli.context import CliContext
from serve_app.cli.output import Output, prints
from serve_app.cli.service_or_process import PrincipalOption, UrlOption
from serve_app.cli.terminal import CONSOLE
from serve_app.operations.background import service_url


@prints
def status(
    context: typer.Context,
    url: UrlOption = "",
    as_: PrincipalOption = "",
) -> Output:
    """Show whether the service is ready, its load, and the questions since it started."""
    cli: CliContext = context.obj
    token = cli.settings.identity.read_token(as_) if as_ else ""
    with Client(url or service_url(cli.settings), token) as client:
        state = client.status()

    def render() -> None:
        for line in render_status(state):
            CONSOLE.print(line, highlight=False, soft_wrap=True)

    return Output(state, render, 0 if state.ready else 1)


def render_status(state: StatusResponse) -> list[str]:
    """The lines of the report, with rich's markup."""
    lines = ["[green]ready[/]" if state.ready else "[red]not ready[/]"]
    for name, problem in state.parts.items():
        mark = "[green]✓[/]" if problem == "ok" else "[red]✗[/]"
        lines.append(f"{mark} {escape(f'{name}: {problem}')}")
    figures, duration = state.figures, state.figures.duration
    counts = ", ".join(f"{number} {outcome}" for outcome, number in figures.questions.items())
    lines += [
        f"model: {_describe_pace(state.pace)}",
        f"requests: {figures.ongoing} ongoing, {figures.waiting} waiting",
        f"questions in {figures.uptime_s / 60:,.0f} minutes: {escape(counts) or 'none'}",
    ]
    if duration.p50_ms is not None and duration.p95_ms is not None:
        lines.append(
            f"duration of the latest {duration.questions}: median {duration.p50_ms / 1000:.1f} s, "
            f"95 % within {duration.p95_ms / 1000:.1f} s"
        )
    return lines


def _describe_pace(pace: PaceResponse | None) -> str:
    if pace is None or pace.prompt_tokens_per_s is None or pace.answer_tokens_per_s is None:
        return "speed not measured"
    return (
        f"{pace.prompt_tokens_per_s:,.0f} tokens a second of a prompt, "
        f"{pace.answer_tokens_per_s:,.0f} of {MEASURED_K} answers together"
        f"{f' ({pace.model_choice})' if pace.model_choice else ''}"
    )
