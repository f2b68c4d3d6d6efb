"""``quorumsql doctor``: checks everything the service needs, and prints remedies."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.markup import escape

from serve_app.cli.context import CliContext
from serve_app.cli.output import Output, prints
from serve_app.cli.terminal import CONSOLE, TerminalReporter
from serve_app.operations.checks import Check
from serve_app.operations.checks.databases import check_definitions_alone
from serve_app.operations.checks.run import run_checks

_MARKS = {"ok": "[green]✓[/]", "warning": "[yellow]![/]", "failed": "[red]✗[/]"}


@prints
def doctor(
    context: typer.Context,
    databases: Annotated[list[str] | None, typer.Argument(help="Databases; default: all.")] = None,
    definitions: Annotated[
        bool, typer.Option("--definitions", help="Check only the files of definitions, as in CI.")
    ] = False,
) -> Output:
    """Check databases, definitions, index, weights, cores or GPU, memory and port."""
    cli: CliContext = context.obj
    checks = []
    run = check_definitions_alone if definitions else run_checks
    for check in run(cli.settings, databases or (), TerminalReporter()):
        _print_check(check)
        checks.append(check)
    failed = any(check.status == "failed" for check in checks)
    # Printed already, one by one, because some of them take seconds.
    return Output({"ok": not failed, "checks": checks}, lambda: None, int(failed))


def _print_check(check: Check) -> None:
    text = escape(f"{check.title}: {check.message}")
    CONSOLE.print(f"{_MARKS[check.status]} {text}")
    if check.remedy:
        for line in check.remedy.splitlines():
            CONSOLE.print(f"    {line}", markup=False, soft_wrap=True)
