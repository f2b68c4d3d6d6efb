"""No control character or bidirectional control from outside reaches the terminal."""

from __future__ import annotations

import io
import json
import re

import pytest
from rich.progress import Progress
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from nl2sql.errors import SettingsError
from quorumsql.contract.answers import (
    AnsweredResponse,
    ClarifyResponse,
    InterpretationResponse,
    RefusedResponse,
    ResultColumn,
)
from serve_app.cli.answers import print_answer, print_brief_answer, print_reasons
from serve_app.cli.app import print_error
from serve_app.cli.output import render_json
from serve_app.cli.safe_text import UNSAFE, SafeConsole, make_safe
from serve_app.cli.terminal import TerminalReporter
from tests.conftest import ROOT

ATTACKS = {
    "title": "\x1b]0;pwned\x07",
    "clipboard": "\x1b]52;c;cm0gLXJm\x1b\\",
    "clear": "\x1b[2J\x1b[H",
    "link": "\x1b]8;;https://evil.example\x1b\\here\x1b]8;;\x1b\\",
    "eight bits": "\x9b31mred\x9c",
    "overwrite": "safe\rEVIL\x08\x08",
    "override": "invoice\u202efdp.exe",
    "isolate": "\u2066admin\u2069",
    "mark": "a\u200fb\u200ec\u061cd",
    "lines": "a\u2028b\u2029c",
    "tags": "a\U000e0041\U000e007f",
    "surrogate": "a\ud83db",
    "delete": "a\x7fb",
}


def printed(*things: object) -> str:
    """What a console without colours writes of them."""
    file = io.StringIO()
    console = SafeConsole(file=file, width=60, color_system=None)
    for thing in things:
        console.print(thing)
    return file.getvalue()


@pytest.mark.parametrize("text", ATTACKS.values(), ids=ATTACKS)
def test_nothing_unsafe_is_printed_in_any_form(text: str) -> None:
    table = Table(text, title=text, caption=text)
    table.add_row(Text(text))
    shown = printed(text, Text(text, style="bold"), table, Syntax(f"SELECT '{text}'", "sql"))
    assert UNSAFE.search(shown) is None
    assert UNSAFE.search(make_safe(text)) is None
    assert len(make_safe(text)) == len(text)
    document = render_json({text: [text]})
    assert UNSAFE.search(document) is None
    assert json.loads(document) == {text: [text]}


@pytest.mark.parametrize("text", ["né\tà\nß", "日本語", "שלום", "مرحبا", "👩‍👩‍👧", "می‌خواهم"])
def test_text_in_any_script_stays_as_it_is(text: str) -> None:
    assert make_safe(text) == text


def test_colours_and_bars_of_our_own_are_kept() -> None:
    file = io.StringIO()
    console = SafeConsole(file=file, force_terminal=True, color_system="standard")
    console.print("[red]a\x1b[32m[/]", highlight=False)
    assert file.getvalue() == "\x1b[31ma␛[32m\x1b[0m\n"
    with Progress(console=console) as progress:
        progress.add_task("a\x1b]0;b\x07", total=1)
    assert "\x1b]0" not in file.getvalue()


def test_no_part_of_an_answer_is_unsafe(capsys: pytest.CaptureFixture[str]) -> None:
    text = "".join(ATTACKS.values())
    common = {"question": text, "database": text, "rewritten": text, "notes": [text]}
    for answer in (
        AnsweredResponse(
            **common,
            sql=f"SELECT '{text}'",
            confidence=0.5,
            quorum=True,
            text=text,
            text_source="rule",
            columns=[ResultColumn(name=text, type=text)],
            rows=[[text]],
            truncated=False,
            cut=[],
        ),
        RefusedResponse(**common, code=text, reason=text, suggestions=[text]),
        ClarifyResponse(
            **common,
            reason=text,
            confidence=0.1,
            interpretations=[
                InterpretationResponse(
                    sql=text,
                    description=text,
                    share=0.5,
                    columns=[],
                    rows=[],
                    truncated=False,
                    cut=[],
                )
            ],
        ),
    ):
        print_answer(answer, seconds=1)
        print_brief_answer(answer, seconds=1)
        print_reasons(answer)
    reporter = TerminalReporter()
    reporter.warn(text)
    with reporter.step(text) as step:
        step.finish(text)
    print_error(SettingsError(text, hint=text))
    shown = capsys.readouterr()
    assert UNSAFE.search(shown.out + shown.err) is None


def test_no_command_prints_past_the_safe_console() -> None:
    """What writes by itself is listed here, and passes on only what is safe or no text."""
    allowed = {
        "output.py": {"typer.echo(", "sys.stdout"},  # escapes, or makes safe
        "keys.py": {"typer.echo("},  # a new key
        "app.py": {"typer.echo("},  # the version
    }
    folder = ROOT / "serve_app" / "cli"
    found: dict[str, set[str]] = {}
    for path in folder.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        pattern = r"(?<!Safe)\bConsole\(|typer\.echo\(|sys\.std(?:out|err)|(?<![\w.])print\("
        if used := set(re.findall(pattern, text)):
            found[str(path.relative_to(folder))] = used
    assert found == allowed
