"""Errors of commands: as text for people, with ``--json`` as a problem document (RFC 9457)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import typer
from typer.exceptions import TyperException

from nl2sql.errors import QuorumError

_MEMBERS = ("field", "database", "retry_after_s", "said")
_INTERRUPTED = 130


def is_json_wanted(arguments: Sequence[str]) -> bool:
    """Whether errors are to be documents, which is known even if the arguments are wrong.

    >>> is_json_wanted(["status", "--json"]), is_json_wanted(["ask", "--", "--json"])
    (True, False)
    """
    own = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in own


def run_for_scripts(app: typer.Typer, arguments: Sequence[str]) -> int:
    """Runs the command line; returns the exit code, and writes an error as a document."""
    try:
        code = app(arguments, standalone_mode=False)
    except QuorumError as error:
        return _write(describe_error(error), 1)
    except TyperException as error:
        problem = _build_problem("usage_error", "Usage error", error.format_message())
        return _write(problem, error.exit_code)
    except typer.Abort:
        return _write(_build_problem("aborted", "Aborted", "The command was ended."), 1)
    if code == _INTERRUPTED:
        problem = _build_problem("interrupted", "Interrupted", "Ctrl-C ended the command.")
        return _write(problem, _INTERRUPTED)
    return code if isinstance(code, int) else 0


def describe_error(error: QuorumError) -> dict[str, Any]:
    """The problem document of one of our errors; ``code`` is its name for programs.

    >>> from nl2sql.errors import SettingsError
    >>> describe_error(SettingsError("No key.", hint="Set one."))["code"]
    'settings_error'
    """
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(error).__name__).lower()
    problem = _build_problem(words.replace(" ", "_"), words.capitalize(), error.message)
    if error.hint:
        problem["hint"] = error.hint.strip()
    return problem | {
        name: value for name in _MEMBERS if (value := getattr(error, name, None)) not in (None, "")
    }


def print_error(error: QuorumError) -> None:
    """Prints an error and what to do about it for people, on standard error."""
    from rich.markup import escape

    from nl2sql.errors import IndexUnavailable
    from serve_app.cli.terminal import ERRORS

    said = f" {error.said}" if isinstance(error, IndexUnavailable) else ""
    # Not wrapped, because a path that is broken over two lines cannot be copied.
    ERRORS.print(
        f"[bold red]error:[/] {escape(error.message + said)}", highlight=False, soft_wrap=True
    )
    if error.hint:
        hint = escape(error.hint.strip())
        ERRORS.print(f"  [dim]→[/] {hint}", highlight=False, soft_wrap=True)


def _build_problem(code: str, title: str, detail: str) -> dict[str, Any]:
    return {"type": "about:blank", "title": title, "code": code, "detail": detail}


def _write(problem: dict[str, Any], exit_code: int) -> int:
    from serve_app.cli.output import render_json

    typer.echo(render_json(problem), err=True)
    return exit_code
