"""One mutant: a file of the tree, and what is written otherwise in it."""

from __future__ import annotations

import ast
import hashlib
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

ROOT = Path(__file__).parents[2]

_LONGEST = 100
_AROUND = 12


@dataclass(frozen=True, slots=True)
class Edit:
    """The bytes from ``start`` to ``end`` become ``text``."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Mutant:
    """``path`` is relative to the root; ``line`` is the first one changed, counted from 1.

    ``name`` is given to repairs that are undone; other mutants are named by their place.
    """

    path: str
    line: int
    kind: str
    edits: tuple[Edit, ...]
    name: str = ""

    @property
    def key(self) -> str:
        """Equal for the same change of the same file in every run."""
        told = "|".join(f"{edit.start}-{edit.end}:{edit.text}" for edit in self.edits)
        digest = hashlib.sha256(told.encode()).hexdigest()[:8]
        return f"{self.path}:{self.line}:{self.name or self.kind}:{digest}"

    def apply(self, source: bytes) -> bytes:
        """The file's text with the edits made.

        >>> Mutant("a.py", 1, "", (Edit(0, 1, "x"), Edit(4, 5, "y"))).apply(b"a + b")
        b'x + y'
        """
        for edit in sorted(self.edits, key=lambda edit: edit.start, reverse=True):
            source = source[: edit.start] + edit.text.encode() + source[edit.end :]
        return source

    def describe(self, source: bytes) -> str:
        """``before → after``; of long texts only where they differ."""
        before = " ; ".join(_normalize(source[edit.start : edit.end]) for edit in self.edits)
        after = " ; ".join(_normalize(edit.text.encode()) for edit in self.edits)
        if len(before) + len(after) > _LONGEST:
            before, after = _cut_to_difference(before, after)
        return f"{before or '(nothing)'} → {after or '(nothing)'}"


def digest_file(path: str) -> str:
    """A checksum of the file at ``path``, relative to the root."""
    return hashlib.sha256((ROOT / path).read_bytes()).hexdigest()[:12]


def _normalize(text: bytes) -> str:
    try:
        return " ".join(ast.unparse(ast.parse(text.strip())).split())
    except SyntaxError:
        return " ".join(text.decode().split())


def _cut_to_difference(before: str, after: str) -> tuple[str, str]:
    """
    >>> _cut_to_difference("a" * 50 + "x" + "b" * 50, "a" * 50 + "b" * 50)
    ('…aaaaaaaaaaaaxbbbbbbbbbbbb…', '…aaaaaaaaaaaabbbbbbbbbbbb…')
    """
    start = _count_common(before, after)
    shorter = min(len(before), len(after)) - start
    end = min(_count_common(before[::-1], after[::-1]), shorter)
    first = max(0, start - _AROUND)
    return tuple(  # type: ignore[return-value]
        ("…" if first else "")
        + text[first : min(len(text), len(text) - end + _AROUND)][:_LONGEST]
        + ("…" if end > _AROUND else "")
        for text in (before, after)
    )


def _count_common(left: str, right: str) -> int:
    """The length of the beginning that both have in common."""
    return sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False))
    )
