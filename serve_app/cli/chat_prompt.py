"""Reads the lines of a conversation from a terminal: editing, history, several lines."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.filters import is_searching
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import Output

from serve_app.cli.terminal import CONSOLE

_PROMPT = FormattedText([("bold", "? ")])
_CONTINUED = ". "


def build_listener(
    history: Path | None,
    *,
    input: Input | None = None,  # noqa: A002
    output: Output | None = None,
) -> Callable[[], str]:
    """What reads a line at a terminal: Ctrl-C empties it, Ctrl-D on an empty one raises EOFError.

    ``history`` is the file of what was typed. ``input`` and ``output`` take the place of the
    terminal.
    """
    prompt: PromptSession[str] = PromptSession(
        history=open_history(history),
        search_ignore_case=True,
        multiline=True,
        prompt_continuation=_CONTINUED,
        key_bindings=_build_keys(),
        input=input,
        output=output,
    )

    def listen() -> str:
        while True:
            try:
                return prompt.prompt(_PROMPT)
            except KeyboardInterrupt:
                CONSOLE.print("[dim]Ctrl-D or /exit leaves.[/]", highlight=False)

    return listen


def open_history(path: Path | None) -> History:
    """What was typed, in a file that only its owner can read.

    Without a file, or where it cannot be written, it ends with the program.
    """
    if path is None:
        return InMemoryHistory()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # A link in place of the file could lead the entries elsewhere.
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        os.fchmod(descriptor, 0o600)
        os.close(descriptor)
    except OSError:
        return InMemoryHistory()
    return FileHistory(path)


def _build_keys() -> KeyBindings:
    """Enter asks; Esc Enter begins another line."""
    keys = KeyBindings()

    @keys.add("enter", filter=~is_searching)
    def enter(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    @keys.add("escape", "enter", filter=~is_searching)
    def begin_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    return keys
