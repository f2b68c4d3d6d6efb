"""The commands that can be typed in a conversation in place of a question."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

COMMANDS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "/sql": ("", "the query of the last answer, to copy"),
        "/why": ("", "why this query won: candidates, values, stages"),
        "/rows": ("", "all rows of the last answer, page by page"),
        "/chart": ("", "the rows of the last answer as a chart"),
        "/export": ("FILE", "the rows to a .csv, .parquet, .json, .jsonl, .md or .arrows file"),
        "/new": ("", "a new session: follow-ups no longer refer to what was asked"),
        "/forget": ("", "delete this session, and start a new one"),
        "/history": ("[clear]", "what was typed last; or delete it"),
        "/help": ("", "this list"),
        "/exit": ("", "leave; so does Ctrl-D"),
    }
)
"""What follows each command, and what it does."""

KEYS = (
    "Tab completes commands, tables and columns. Ctrl-R searches what was typed before. Esc Enter, "
    "or a backslash before Enter, begins another line. Ctrl-C stops a question."
)


def render_help() -> str:
    """A line for each command, and the keys."""
    width = max(len(f"{name} {rest}") for name, (rest, _) in COMMANDS.items())
    lines = [f"{f'{name} {rest}':<{width}}  {told}" for name, (rest, told) in COMMANDS.items()]
    return "\n".join([*lines, KEYS])
