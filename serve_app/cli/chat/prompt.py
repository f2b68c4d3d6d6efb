"""Reads lines from a terminal: editing, history, completion, several lines."""

from __future__ import annotations

from collections.abc import Sequence

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.filters import Condition, is_searching
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import Output

from serve_app.cli.chat.completion import ChatCompleter
from serve_app.cli.chat.history import ChatHistory
from serve_app.cli.schema_names import SchemaNames
from serve_app.cli.terminal import CONSOLE

_PROMPT = FormattedText([("bold", "? ")])
_CONTINUED = ". "


class TerminalListener:
    """What is typed at a terminal.

    Ctrl-C empties the line, Ctrl-D on an empty line ends the conversation.
    """

    def __init__(
        self,
        history: ChatHistory,
        names: SchemaNames,
        *,
        input: Input | None = None,  # noqa: A002
        output: Output | None = None,
    ) -> None:
        """``input`` and ``output`` take the place of the terminal."""
        self._history = history
        self._prompt: PromptSession[str] = PromptSession(
            history=history,
            completer=ChatCompleter(names),
            complete_in_thread=True,
            # A question is plain language: only commands are offered without Tab.
            complete_while_typing=Condition(lambda: get_app().current_buffer.text.startswith("/")),
            search_ignore_case=True,
            multiline=True,
            prompt_continuation=_CONTINUED,
            key_bindings=build_keys(),
            input=input,
            output=output,
        )

    def listen(self) -> str:
        """See Listener."""
        while True:
            try:
                return self._prompt.prompt(_PROMPT)
            except KeyboardInterrupt:
                CONSOLE.print("[dim]Ctrl-D or /exit leaves.[/]", highlight=False)

    def list_history(self) -> Sequence[str]:
        """See Listener."""
        return self._history.get_strings()

    def clear_history(self) -> None:
        """See Listener."""
        self._history.clear()


def build_keys() -> KeyBindings:
    """Enter asks; Esc Enter, or a backslash before Enter, begins another line."""
    keys = KeyBindings()

    @keys.add("enter", filter=~is_searching)
    def enter(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state and buffer.complete_state.current_completion:
            buffer.complete_state = None
        elif buffer.document.text_before_cursor.endswith("\\"):
            buffer.delete_before_cursor()
            buffer.insert_text("\n")
        else:
            buffer.validate_and_handle()

    @keys.add("escape", "enter", filter=~is_searching)
    def begin_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    return keys
