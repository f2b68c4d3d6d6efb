"""Numbered migrations, each of which changes the index's tables from one layout to the next.

``0003_session_turns.sql`` migrates layout 2 to layout 3. A new index runs all steps, so the tables
are defined only here. To change a table, add a step; released steps are not edited.

Every step keeps examples, feedback and sessions. Generations can be built
again: a step that changes their tables takes them out of service (``UPDATE quorumsql.generations
SET live = false``), and the next build creates new ones. A service of the previous version may
still be running, so steps add columns rather than rename them where possible.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Step:
    """The statements that migrate the previous layout to layout ``number``."""

    number: int
    name: str
    statements: bytes


@cache
def read_steps() -> tuple[Step, ...]:
    """All steps in order; the last one's number is the newest layout."""
    paths = sorted(Path(__file__).parent.glob("*.sql"))
    return tuple(Step(int(path.stem[:4]), path.stem, path.read_bytes()) for path in paths)
