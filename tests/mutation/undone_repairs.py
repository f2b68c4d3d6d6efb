"""Known repairs of the guard, each undone: the suite must notice every one.

An entry of ``known_repairs*.py`` names what was found, the file, and the text of the repair with
what stood there before, or with the repair left out. A text that is no longer there, or is there
twice, is an error: the entry must follow the code.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.mutation.known_repairs import REPAIRS, Entry
from tests.mutation.known_repairs_files import FILE_REPAIRS
from tests.mutation.known_repairs_growth import GROWTH_REPAIRS
from tests.mutation.known_repairs_names import NAME_REPAIRS
from tests.mutation.mutant import ROOT, Edit, Mutant


@dataclass(frozen=True, slots=True)
class Repair:
    """``changes`` are pairs of a text of the file at ``path`` and what takes its place."""

    name: str
    path: str
    changes: tuple[tuple[str, str], ...]


def load_repairs() -> tuple[Repair, ...]:
    """All entries of the lists."""
    return tuple(
        Repair(name, path, _list_changes(entry))
        for path, entries in {**REPAIRS, **NAME_REPAIRS, **GROWTH_REPAIRS, **FILE_REPAIRS}.items()
        for name, entry in entries.items()
    )


def _list_changes(entry: Entry) -> tuple[tuple[str, str], ...]:
    if isinstance(entry, str):
        return ((entry, "if False:"),)
    return tuple(entry) if isinstance(entry, list) else (entry,)


def undo_repair(repair: Repair) -> Mutant:
    """The code without the repair. Raises ValueError when a text is not there exactly once."""
    source = (ROOT / repair.path).read_bytes()
    edits = []
    for before, after in repair.changes:
        if (count := source.count(before.encode())) != 1:
            raise ValueError(f"{repair.name}: {before!r} is {count} times in {repair.path}")
        start = source.index(before.encode())
        edits.append(Edit(start, start + len(before.encode()), after))
    line = source[: min(edit.start for edit in edits)].count(b"\n") + 1
    return Mutant(repair.path, line, "repair undone", tuple(edits), repair.name)
