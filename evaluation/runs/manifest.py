"""What a run was made with: written beside its results, so that a sceptic can make it again."""

from __future__ import annotations

from typing import Any, ClassVar

from evaluation.runs.records import Record
from evaluation.runs.variants import WITHOUT

# What may differ between two sittings of one run.
_PER_SITTING = frozenset({"started_at", "seconds", "finished"})


class RunManifest(Record):
    """What every kind of run says of itself; ``FILE`` is the kind's own file name.

    ``question_ids`` are the sampled ones, in order. ``seconds`` adds up the time of all sittings,
    resumed ones included.
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
        """All that makes it this run and no other, as JSON values; the same in every sitting."""
        return self.model_dump(mode="json", exclude=set(_PER_SITTING))


class Manifest(RunManifest):
    """Everything that the figures of an ``eval run`` depend on.

    ``configuration`` is the whole of the settings, ``variant`` the name under which reports show
    this run (``K=4``, ``plain``, ``without bm25``). ``samples`` is the file that the model's
    samples were kept in and taken from; its times say nothing then.
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
        """True when one stage was switched off to see what it is worth."""
        return self.variant.startswith(WITHOUT)

    @property
    def is_timed(self) -> bool:
        """False where samples came from a file, which takes no time: speed is not shown then."""
        return not self.samples
