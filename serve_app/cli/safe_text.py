"""Makes text from outside harmless on a terminal.

A cell, a query or a message of a database may hold terminal escape sequences, which can hide or
change what is on the screen, and bidirectional controls, which show a text in another order than
it is stored in. Every character of ``UNSAFE`` is shown as a sign instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

# Control characters but tab and line feed; marks, embeddings, overrides and isolates of
# bidirectional text; line and paragraph separators; invisible tags; halves of surrogate pairs.
UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_PICTURES, _DELETE, _REPLACEMENT = 0x2400, "\x7f", "\ufffd"


def make_safe(text: str) -> str:
    """``text`` with a sign of the same place in it for each unsafe character.

    >>> make_safe("a\\x1b[31mb\\u202ec")
    'a␛[31mb�c'
    """
    return UNSAFE.sub(_show, text)


def escape_unsafe(json_text: str) -> str:
    r"""A JSON text with unsafe characters as escapes, which reads as the same values.

    >>> escape_unsafe('{"a": "\u202e\x9b"}')
    '{"a": "\\u202e\\u009b"}'
    """
    return UNSAFE.sub(_escape, json_text)


def _show(found: re.Match[str]) -> str:
    sign = found[0]
    if sign == _DELETE:
        return chr(_PICTURES + 0x21)
    return chr(_PICTURES + ord(sign)) if ord(sign) < 0x20 else _REPLACEMENT


def _escape(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


class SafeConsole(Console):
    """A console that passes on no unsafe character of what it is told to print.

    The sequences by which rich itself colours and moves are kept: they are styles and controls of
    segments, never their text.
    """

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """See Console."""
        for segment in super().render(renderable, options):
            if segment.control is None and UNSAFE.search(segment.text):
                yield Segment(make_safe(segment.text), segment.style)
            else:
                yield segment
