"""What a command prints: for people, or with ``--json`` as one JSON document.

A command is decorated with ``prints`` and returns an ``Output``. With ``--json``, standard output
gets the document and nothing else, standard error only what is wrong if the command fails:
progress, warnings and questions for confirmation are left out.
"""

from __future__ import annotations

import functools
import inspect
import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import date, datetime
from enum import Enum
from typing import Annotated, Any, ParamSpec

import typer
from pydantic import BaseModel
from rich import box
from rich.table import Table
from rich.text import Text

from serve_app.cli.safe_text import SafeConsole, escape_unsafe, make_safe
from serve_app.cli.terminal import CONSOLE, ERRORS

_P = ParamSpec("_P")
JSON_OPTION, JSON_HELP = "--json", "Print JSON, and nothing else, for scripts."
_OPTION = "as_json"
_PIPED_WIDTH = 10_000
# From here on a number is shown without decimals, and never with an exponent.
_LARGE = 1000


@dataclass(frozen=True, slots=True)
class Output:
    """The outcome of a command.

    ``document`` is what ``--json`` writes: JSON values, dataclasses and models in any nesting.
    People read the same, by ``print_document`` with ``columns``; or in its place ``told``: a
    sentence, or a function that prints. ``exit_code`` says whether the outcome is the hoped-for
    one.
    """

    document: Any
    told: str | Callable[[], object] | None = None
    exit_code: int = 0
    columns: Sequence[str] = field(default=(), kw_only=True)

    def tell(self) -> None:
        """Prints it for people."""
        if self.told is None:
            print_document(self.document, self.columns)
        elif isinstance(self.told, str):
            say(self.told)
        else:
            self.told()


def prints(command: Callable[_P, Output]) -> Callable[..., None]:
    """Makes a command of a function that returns what it prints; adds the option ``--json``."""
    signature = inspect.signature(command, eval_str=True)

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        as_json = kwargs.pop(_OPTION, False)
        with _only_document() if as_json else nullcontext():
            output = command(*args, **kwargs)
        if as_json:
            write_document(output.document)
        else:
            output.tell()
        if output.exit_code:
            raise typer.Exit(output.exit_code)

    option = typer.Option(JSON_OPTION, help=JSON_HELP)
    parameter = inspect.Parameter(
        _OPTION, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Annotated[bool, option]
    )
    run.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[*signature.parameters.values(), parameter], return_annotation=None
    )
    return run


def confirm(question: str, *, yes: bool) -> None:
    """Asks unless ``yes``; a no ends the command. Raises BadParameter with ``--json``."""
    if yes:
        return
    if CONSOLE.quiet:
        raise typer.BadParameter("With --json nothing is asked: add --yes.")
    typer.confirm(make_safe(question), abort=True)


@contextmanager
def _only_document() -> Iterator[None]:
    before = CONSOLE.quiet, ERRORS.quiet
    CONSOLE.quiet = ERRORS.quiet = True
    try:
        yield
    finally:
        CONSOLE.quiet, ERRORS.quiet = before


def write_document(document: Any) -> None:
    """Writes a document to standard output."""
    typer.echo(render_json(document, indent=2 if sys.stdout.isatty() else None))


def say(text: str) -> None:
    """Prints a sentence for people, as it is."""
    CONSOLE.print(text, markup=False, soft_wrap=True)


def print_document(document: Any, columns: Sequence[str] = ()) -> None:
    """Prints a document for people: records as a table, the values of one record as lines.

    ``columns`` are the keys of records that are shown; by default all.
    """
    value = build_json(document)
    if isinstance(value, list) and all(isinstance(each, dict) for each in value):
        print_table(value, columns)
    elif isinstance(value, dict):
        _print_record(value)
    else:
        say(show_value(value))


def _print_record(record: Mapping[str, Any]) -> None:
    for key, value in record.items():
        if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
            print_table(value, title=key.replace("_", " "))
        else:
            say(f"{key.replace('_', ' ')}: {show_value(value)}")


def print_table(
    rows: Sequence[Mapping[str, Any]], columns: Sequence[str] = (), *, title: str = ""
) -> None:
    """Prints records as a table."""
    table = Table(box=box.SIMPLE_HEAD, title=Text(title) if title else None, title_justify="left")
    keys = columns or list(dict.fromkeys(key for row in rows for key in row))
    for at, key in enumerate(keys):
        is_number = any(isinstance(row.get(key), int | float) for row in rows)
        table.add_column(
            Text(key.replace("_", " ")),
            justify="right" if is_number else "left",
            overflow="fold",
            no_wrap=at == 0,
        )
    for row in rows:
        table.add_row(*(Text(show_value(row.get(key))) for key in keys))
    # What is no terminal has no width at which to cut.
    width = CONSOLE.width if CONSOLE.is_terminal else _PIPED_WIDTH
    SafeConsole(width=width).print(table, crop=False)


def show_value(value: Any) -> str:
    """A value of JSON as people read it.

    >>> show_value([1234, None, 0.123456, 18940.0, True]), show_value({"a": 1, "b": "c"})
    ('1,234, -, 0.1235, 18,940, yes', 'a 1, b c')
    """
    match value:
        case None | "":
            return "-"
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return f"{value:,.0f}" if abs(value) >= _LARGE else f"{value:,.4g}"
        case list():
            return ", ".join(map(show_value, value)) or "-"
        case dict():
            return ", ".join(f"{key} {show_value(inner)}" for key, inner in value.items()) or "-"
        case _:
            return str(value)


def write_text(text: str) -> None:
    """Writes text for another program, unwrapped; on a terminal without unsafe characters."""
    typer.echo(make_safe(text) if sys.stdout.isatty() else text, nl=False)


def render_json(value: Any, *, indent: int | None = None) -> str:
    """The value as JSON that is safe on a terminal. A number that JSON lacks becomes null."""
    return escape_unsafe(json.dumps(build_json(value), indent=indent, ensure_ascii=False))


def build_json(value: Any) -> Any:
    """Dataclasses, models, dates, paths and enumerations as JSON values.

    >>> build_json({"at": date(2025, 1, 2), "of": (1, 2), "share": float("nan")})
    {'at': '2025-01-02', 'of': [1, 2], 'share': None}
    """
    if isinstance(value, BaseModel):
        return build_json(value.model_dump())
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: build_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): build_json(inner) for key, inner in value.items()}
    if isinstance(value, Enum):
        return build_json(value.value)
    if isinstance(value, list | tuple):
        return [build_json(inner) for inner in value]
    if isinstance(value, set | frozenset):
        return [build_json(inner) for inner in sorted(value)]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    return value.isoformat() if isinstance(value, datetime | date) else str(value)
