"""Paraphrases of a benchmark's questions, such as those of Spider-Syn for Spider.

They are read from two files in Spider's format with corresponding entries: the original questions,
and the paraphrases. Their queries are not read; the gold is that of the benchmark, which may be the
same set in another format.
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
    """Pairs of an example's id and the example with its paraphrase, for those that have one.

    An example is found in ``originals`` by its question and its schema or database. Paraphrases
    that differ only in case and white space are left out. Raises SettingsError if the files'
    entries do not correspond, or if no example has a paraphrase.
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
            f"No question of the benchmark has a paraphrase in {others}.",
            hint=f"Its questions are searched in {originals}, by text and db_id.",
        )
    return tuple(reworded)


def _align(originals: Path, others: Path) -> list[tuple[Entry, Entry]]:
    before, after = read_json_entries(originals), read_json_entries(others)
    if len(before) != len(after):
        raise SettingsError(
            f"{originals} has {len(before)} entries, {others} {len(after)}.",
            hint="Both must contain the same questions in the same order.",
        )
    for one, other in zip(before, after, strict=True):
        if one.text("db_id") != other.text("db_id"):
            raise other.error("db_id", f"is not that of entry {one.number} of {originals}")
    return list(zip(before, after, strict=True))


def _plain(text: str) -> str:
    """The question in lower case and without white space.

    >>> _plain("Who  is there ?") == _plain("who is there?")
    True
    """
    return "".join(text.lower().split())
