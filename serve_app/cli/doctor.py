"""``quorumsql doctor``: checks what the service depends on and says what to do about each."""

from __future__ import annotations

import typer
from rich.markup import escape

from serve_app.checks import Check, run_checks
from serve_app.cli.context import CliContext
from serve_app.cli.terminal import CONSOLE

_MARKS = {"ok": "[green]✓[/]", "warning": "[yellow]![/]", "failed": "[red]✗[/]"}


def doctor(context: typer.Context) -> None:
    """Check databases, index, weights, cores or GPU, memory and ports."""
    cli: CliContext = context.obj
    worst = 0
    for check in run_checks(cli.settings):
        _print_check(check)
        worst = max(worst, check.status == "failed")
    raise typer.Exit(worst)


def _print_check(check: Check) -> None:
    text = escape(f"{check.name}: {check.message}")
    CONSOLE.print(f"{_MARKS[check.status]} {text}", highlight=False)
    if check.remedy:
        for line in check.remedy.splitlines():
            CONSOLE.print(f"    {line}", highlight=False, markup=False, soft_wrap=True)
