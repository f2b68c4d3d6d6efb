"""Paraphrases of a benchmark's questions, as Spider-Syn gives them for Spider's.

Two files in Spider's form stand for it, entry beside entry: the questions as they were, and the
same questions in other words. Their queries are not read: the gold is the benchmark's own, which
may be another form of the same set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from data.benchmarks.entries import Entry, read_json_entries
from data.benchmarks.types import Example
from nl2sql.errors import SettingsError


def reword(
    examples: Sequence[Example], originals: Path, others: Path
) -> tuple[tuple[str, Example], ...]:
    """(id of the example, the example in the words of ``others``), for each that has other words.

    An example is found in ``originals`` by its question and its schema or database. Paraphrases
    that differ in nothing but case and space are left out. Raises SettingsError when the files do
    not stand entry beside entry, or no example is in them.
    """
    pairs = {
        (_plain(before.text("question")), after.text("db_id").lower()): after.text("question")
        for before, after in _align(originals, others)
    }
    reworded = []
    for example in examples:
        question = _plain(example.question)
        place = (example.schema or example.database).lower()
        for (text, database), paraphrase in pairs.items():
            same = text == question and place.endswith(database)
            if same and _plain(paraphrase) != question:
                other = replace(example, id=f"{others.stem}-{example.id}", question=paraphrase)
                reworded.append((example.id, other))
                break
    if not reworded:
        raise SettingsError(
            f"No question of the benchmark has other words in {others}.",
            hint=f"Its questions are looked for in {originals}, by text and db_id.",
        )
    return tuple(reworded)


def _align(originals: Path, others: Path) -> list[tuple[Entry, Entry]]:
    before, after = read_json_entries(originals), read_json_entries(others)
    if len(before) != len(after):
        raise SettingsError(
            f"{originals} has {len(before)} entries, {others} {len(after)}.",
            hint="Both must hold the same questions in the same order.",
        )
    for one, other in zip(before, after, strict=True):
        if one.text("db_id") != other.text("db_id"):
            raise other.error("db_id", f"is not that of entry {one.number} of {originals}")
    return list(zip(before, after, strict=True))


def _plain(text: str) -> str:
    """The question without what people and files write differently.

    >>> _plain("Who  is there ?") == _plain("who is there?")
    True
    """
    return "".join(text.lower().split())
