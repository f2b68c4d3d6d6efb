"""Shows long text by the user's pager, or page by page where there is none."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping

from rich.console import RenderableType
from rich.text import Text

from serve_app.cli.safe_text import SafeConsole
from serve_app.cli.terminal import CONSOLE

# Of less: leave if all fits on a page, show colours, do not wrap, leave the page on the screen.
_LESS = "FRSX"
# Wide tables are not squeezed: the pager moves sideways.
_WIDEST = 2_000


def show_paged(renderable: RenderableType) -> None:
    """Prints it, through a pager if the terminal is too small; without a terminal as it is."""
    if not CONSOLE.is_terminal:
        CONSOLE.print(renderable, soft_wrap=True)
        return
    text = _render(renderable)
    lines = text.splitlines()
    fits = all(Text.from_ansi(line).cell_len <= CONSOLE.width for line in lines)
    if len(lines) < CONSOLE.height and fits:
        CONSOLE.print(renderable)
        return
    command = find_pager(os.environ)
    if command is None or not _run(command, text):
        show_pages(text, CONSOLE.height - 1, sys.stdout.write, input)


def find_pager(environment: Mapping[str, str]) -> list[str] | None:
    """The command of the user's pager: ``$PAGER``, else less or more; None if there is none.

    >>> find_pager({"PAGER": "less -i"})
    ['less', '-i']
    """
    if named := environment.get("PAGER", "").strip():
        try:
            return shlex.split(named)
        except ValueError:
            return None
    return next(([name] for name in ("less", "more") if shutil.which(name)), None)


def show_pages(
    text: str, height: int, write: Callable[[str], object], ask: Callable[[str], str]
) -> None:
    """Writes ``height`` lines at a time; ``ask`` waits for Enter, or for q to end."""
    lines = text.splitlines(keepends=True)
    for start in range(0, len(lines), height):
        if start:
            try:
                answer = ask(f"-- {len(lines) - start} more lines: Enter, or q to end -- ")
            except (EOFError, KeyboardInterrupt):
                return
            if answer.strip().lower().startswith("q"):
                return
        write("".join(lines[start : start + height]))


def _render(renderable: RenderableType) -> str:
    # Bold headings are styles that every pager shows; tables have no colours.
    console = SafeConsole(width=_WIDEST, force_terminal=True, color_system="standard")
    with console.capture() as captured:
        console.print(renderable)
    return "".join(line.rstrip() + "\n" for line in captured.get().splitlines())


def _run(command: list[str], text: str) -> bool:
    """Whether the pager could be started. Ctrl-C goes to it, and ends it."""
    environment = {"LESS": _LESS, **os.environ}
    try:
        subprocess.run(
            command, input=text, text=True, env=environment, check=False, errors="replace"
        )
    except KeyboardInterrupt:
        return True
    except OSError:
        return False
    return True
