"""The configuration of a run, written with its results, so that it can be reproduced."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evaluation.runs.records import Record
from quorumsql.contract.model import CandidateCount

# The fields that can differ between two sessions of one run.
_PER_SESSION = frozenset({"started_at", "seconds", "finished"})


class RunManifest(Record):
    """Everything that the figures of an ``eval run`` depend on.

    ``question_ids`` are the sampled ones, in order. ``configuration`` holds all settings,
    ``variant`` is the run's name in reports (``K=4``, ``plain``). ``samples`` is the file in which
    the model's samples were stored; times are not meaningful then. ``seconds`` is the time of all
    sessions, including resumed ones.
    """

    benchmark: str
    benchmark_path: str
    benchmark_sha256: str
    dialect: str
    variant: str
    baseline: str = ""
    k: CandidateCount
    seed: int
    sample: int = 0
    sample_seed: int = 0
    evidence: bool = False
    concurrency: int = 1
    samples: str = ""
    question_ids: tuple[str, ...]
    configuration: dict[str, Any]
    versions: dict[str, str]
    machine: dict[str, str]
    revision: str = ""
    started_at: str = ""
    seconds: float = 0.0
    finished: bool = False

    def identity(self) -> dict[str, Any]:
        """The fields that identify the run, as JSON values; the same in every session."""
        return self.model_dump(mode="json", exclude=set(_PER_SESSION))

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
