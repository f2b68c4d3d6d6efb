"""What a person says of a gold: judgements kept beside the loader, without a benchmark's texts.

A strict comparison with one gold calls right answers wrong, since some golds are wrong and some
questions have several right answers. A judgement names a question by its id and a digest of its
text, and gives queries whose results a person accepts: in place of the gold where that is wrong, in
addition to it where both are defensible. They were written from the question and the data by two
independent readers (docs/how-to/evaluation.md). They give a second figure beside the strict one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import as_file, files

from data.benchmarks.entries import Entry, read_json_line_entries
from data.benchmarks.types import Benchmark, Example

GOLD_WRONG, BOTH = "gold wrong", "both defensible"
_DIGITS = 8


def add_judgements(benchmark: Benchmark) -> Benchmark:
    """The benchmark whose examples have ``accepted`` queries where somebody judged the gold.

    Raises SettingsError for a judgement about another question.
    """
    file = files("data.benchmarks").joinpath(f"judged/{benchmark.name.replace(' ', '_')}.jsonl")
    if not file.is_file():
        return benchmark
    with as_file(file) as path:
        judged = {entry.text("id"): entry for entry in read_json_line_entries(path)}
    return replace(
        benchmark, examples=tuple(_judge(example, judged) for example in benchmark.examples)
    )


def digest_question(question: str) -> str:
    """The mark of a question's text in a judgement.

    >>> digest_question("How many?")
    'ba352e24'
    """
    return hashlib.sha256(question.encode()).hexdigest()[:_DIGITS]


def _judge(example: Example, judged: Mapping[str, Entry]) -> Example:
    entry = judged.get(example.id)
    if entry is None:
        return example
    if entry.text("digest") != digest_question(example.question):
        raise entry.error("digest", f"is not that of question {example.id}")
    if entry.text("verdict") not in (GOLD_WRONG, BOTH):
        raise entry.error("verdict", f"must be {GOLD_WRONG!r} or {BOTH!r}")
    kept = example.golds if entry.text("verdict") == BOTH else ()
    return replace(example, accepted=(*kept, *entry.golds()))
