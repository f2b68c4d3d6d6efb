"""Numbered steps, each of which brings the tables of the index from one layout to the next.

``0003_session_turns.sql`` makes layout 3 of layout 2. A new index runs all steps, so no other place
says which tables there are. To change a table, add a step; one that was released is not edited.

Examples, feedback, sessions and glosses of the model survive every step. What a build makes again
need not: a step that changes the tables of generations takes these out of service (``UPDATE
quorumsql.generations SET live = false``), and the next build makes new ones. A service of the
version before may still be running, so a step adds rather than renames where it can.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Step:
    """The statements that make layout ``number`` of the one before."""

    number: int
    name: str
    statements: bytes


@cache
def read_steps() -> tuple[Step, ...]:
    """All steps in order; the number of the last one is the present layout."""
    paths = sorted(Path(__file__).parent.glob("*.sql"))
    return tuple(Step(int(path.stem[:4]), path.stem, path.read_bytes()) for path in paths)
