"""Reads golden files under ``tests/fixtures``, in the manner of sqlglot's own fixtures.

A pairs file holds, for each case, ``# title: …``, the SQL, a line ``--`` and the SQL expected. A
prompt's golden file holds its messages, each under ``=== role``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from nl2sql.types import Prompt

FIXTURES = Path(__file__).parent / "fixtures"
ARROW = " --> "
_TITLE = "# title: "


def load_text(name: str) -> str:
    """The text of ``fixtures/NAME``, without the line end at its end."""
    return (FIXTURES / name).read_text(encoding="utf-8").rstrip("\n")


def render_golden(prompt: Prompt) -> str:
    """A prompt as its golden file holds it."""
    return "\n".join(f"=== {message.role}\n{message.content}" for message in prompt.messages)


@dataclass(frozen=True, slots=True)
class Pair:
    """One case: ``before`` becomes ``after``; ``after`` is empty where nothing comes of it."""

    title: str
    before: str
    after: str


def load_pairs(name: str) -> tuple[Pair, ...]:
    """All pairs of ``fixtures/NAME.sql``."""
    text = (FIXTURES / f"{name}.sql").read_text(encoding="utf-8")
    pairs = []
    for case in text.split(_TITLE)[1:]:
        title, _, body = case.partition("\n")
        before, separator, after = f"{body}\n".partition("\n--\n")
        assert separator, f"{name}.sql: {title!r} has no line that is only --"
        pairs.append(Pair(title, before.strip(), after.strip()))
    return tuple(pairs)


def load_cases(name: str) -> list[tuple[str, str]]:
    """The lines of ``fixtures/NAME.txt`` that are cases, each with the heading above it.

    A heading stands behind ``==``; empty lines and those that begin with ``#`` are none.
    """
    heading, cases = "", []
    for line in (FIXTURES / f"{name}.txt").read_text(encoding="utf-8").split("\n"):
        if line.startswith("== "):
            heading = line.removeprefix("== ")
        elif line and not line.startswith("# "):
            cases.append((heading, line))
    return cases


def load_changes(name: str, heading: str = "") -> list[tuple[str, str]]:
    """The cases of a file, or those under a heading: the text and what becomes of it.

    The latter stands behind ``-->``; where there is none, the text stays as it is.
    """
    cases = []
    for found, line in load_cases(name):
        if heading in ("", found):
            before, _, after = line.partition(ARROW)
            cases.append((before, after or before))
    return cases
