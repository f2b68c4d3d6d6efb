"""Leaves out what must not be trained on, because it or the like of it is measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from rapidfuzz import fuzz, process

from data.benchmarks.types import Benchmark
from nl2sql.errors import SettingsError
from nl2sql.words import split_words

_ALIKE = 90.0


def leave_out(
    benchmark: Benchmark, measured: Sequence[Benchmark], source_of: Callable[[str], str] = str
) -> Benchmark:
    """The benchmark without the databases and the questions that are in one of ``measured``.

    A question is in there if one like it is, see ``find_overlaps``. ``source_of`` gives the
    database of an assistant. Raises SettingsError if none is left.
    """
    databases = {source_of(each.database) for other in measured for each in other.examples}
    rest = [each for each in benchmark.examples if source_of(each.database) not in databases]
    asked = [each.question for other in measured for each in other.examples]
    overlaps = find_overlaps([each.question for each in rest], asked)
    kept = tuple(each for at, each in enumerate(rest) if at not in overlaps)
    if not kept:
        raise SettingsError(
            f"All questions of {benchmark.name} are also among those that are measured.",
            hint="Take other questions, or leave out --apart-from.",
        )
    return replace(benchmark, examples=kept)


def find_overlaps(questions: Sequence[str], measured: Iterable[str]) -> dict[int, str]:
    """The places of ``questions`` that occur among those measured, with the measured one.

    Compared are the words in any order, without case, punctuation and plural: a question occurs if
    the letters of its sorted words are those of a measured one by at least 90 percent (the
    normalized Indel similarity).

    >>> find_overlaps(
    ...     ["Which singers are from France?", "List the ships."], ["From France: which singer are"]
    ... )
    {0: 'From France: which singer are'}
    """
    others = {_sort_words(text): text for text in measured}
    keys = list(map(_sort_words, questions))
    found = {at: others[key] for at, key in enumerate(keys) if key in others}
    names = list(others)
    # The matrix of all pairs would take gigabytes for large benchmarks.
    for at in set(range(len(keys))) - found.keys():
        near = process.extractOne(keys[at], names, scorer=fuzz.ratio, score_cutoff=_ALIKE)
        if near is not None:
            found[at] = others[near[0]]
    return dict(sorted(found.items()))


def _sort_words(text: str) -> str:
    return " ".join(sorted(split_words(text)))
