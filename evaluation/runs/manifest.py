"""The configuration of a run, written with its results, so that it can be reproduced."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from evaluation.runs.records import Record
from evaluation.runs.variants import WITHOUT

# The fields that can differ between two sessions of one run.
_PER_SESSION = frozenset({"started_at", "seconds", "finished"})


class RunManifest(Record):
    """The fields of every kind of run; ``FILE`` is the kind's file name.

    ``question_ids`` are the sampled ones, in order. ``seconds`` is the time of all sessions,
    including resumed ones.
    """

    FILE: ClassVar[str]

    benchmark: str
    benchmark_path: str
    benchmark_sha256: str
    dialect: str
    sample: int = 0
    sample_seed: int = 0
    evidence: bool = False
    question_ids: tuple[str, ...]
    versions: dict[str, str]
    machine: dict[str, str]
    revision: str = ""
    started_at: str = ""
    seconds: float = 0.0
    finished: bool = False

    def identity(self) -> dict[str, Any]:
        """The fields that identify the run, as JSON values; the same in every session."""
        return self.model_dump(mode="json", exclude=set(_PER_SESSION))


class AnswerManifest(RunManifest):
    """Everything that the figures of an ``eval run`` depend on.

    ``configuration`` holds all settings, ``variant`` is the run's name in reports (``K=4``,
    ``plain``, ``without bm25``). ``samples`` is the file in which the model's samples were stored;
    times are not meaningful then.
    """

    FILE: ClassVar[str] = "manifest.json"

    variant: str
    baseline: str = ""
    k: int
    seed: int
    concurrency: int = 1
    service: str = ""
    samples: str = ""
    configuration: dict[str, Any]

    @property
    def is_ablated(self) -> bool:
        """True if one stage was switched off to measure its effect."""
        return self.variant.startswith(WITHOUT)

    @property
    def is_timed(self) -> bool:
        """False if samples came from a file: times are not meaningful then."""
        return not self.samples


def find_differences(
    old: Mapping[str, Any], new: Mapping[str, Any], prefix: str = ""
) -> Iterator[tuple[str, Any, Any]]:
    """``section.key`` with both values, None if one is missing, for each that differs."""
    for key in dict.fromkeys((*old, *new)):
        before, after = old.get(key), new.get(key)
        if isinstance(before, dict) and isinstance(after, dict):
            yield from find_differences(before, after, f"{prefix}{key}.")
        elif before != after:
            yield f"{prefix}{key}", before, after
