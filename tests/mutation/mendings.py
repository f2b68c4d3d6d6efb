"""Known repairs of the guard, each undone: the suite must notice every one.

An entry names what was found, the file, and the text of the repair with what stood there before, or
with the repair left out. A text that is no longer there, or is there twice, is an error: the entry
must follow the code.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tests.mutation.known_repairs import REPAIRS
from tests.mutation.known_repairs_files import FILE_REPAIRS
from tests.mutation.known_repairs_growth import GROWTH_REPAIRS
from tests.mutation.known_repairs_names import NAME_REPAIRS
from tests.mutation.mutant import ROOT, Edit, Mutant


@dataclass(frozen=True, slots=True)
class Mending:
    """``changes`` are pairs of a text of the file at ``path`` and what takes its place."""

    name: str
    path: str
    changes: tuple[tuple[str, str], ...]


def load_mendings() -> tuple[Mending, ...]:
    """All of the list, as they are written there."""
    repairs_by_file = {**REPAIRS, **NAME_REPAIRS, **GROWTH_REPAIRS, **FILE_REPAIRS}
    return tuple(
        Mending(name, path, changes)
        for path, repairs in repairs_by_file.items()
        for name, changes in repairs.items()
    )


def list_mendings(names: Iterable[str] = ()) -> list[Mutant]:
    """The mendings as mutants. Raises ValueError for one that does not fit its file."""
    wanted = set(names)
    return [
        build_mutant(mending)
        for mending in load_mendings()
        if not wanted or mending.path.rpartition("/")[2].removesuffix(".py") in wanted
    ]


def build_mutant(mending: Mending) -> Mutant:
    """The mending as a mutant. Raises ValueError when a text is not there exactly once."""
    source = (ROOT / mending.path).read_bytes()
    edits = []
    for before, after in mending.changes:
        if (count := source.count(before.encode())) != 1:
            raise ValueError(f"{mending.name}: {before!r} is {count} times in {mending.path}")
        start = source.index(before.encode())
        edits.append(Edit(start, start + len(before.encode()), after))
    line = source[: min(edit.start for edit in edits)].count(b"\n") + 1
    return Mutant(mending.path, line, "mending", tuple(edits), mending.name)
