"""A run of ``eval run`` on disk: a journal of QuestionRecords, and how long right answers took.

::

    RUN/manifest.json       what the run is made with
    RUN/questions.jsonl     a QuestionRecord a line, appended as each is judged
    RUN/timings.jsonl       id and time ratio of right answers, measured when all are judged

How it survives a kill is the journal's business.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from evaluation.metrics.bird_scores import r_ves_reward
from evaluation.runs.journal import Journal, read_journal
from evaluation.runs.json_lines import append_line, read_lines
from evaluation.runs.manifest import Manifest, RunManifest
from evaluation.runs.records import QuestionRecord

_TIMINGS = "timings.jsonl"


class RunFolder(Journal):
    """One run, written while it is open. Nothing is on disk before that."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        super().__init__(folder, manifest)
        self.manifest = manifest

    def start_timing(self) -> set[str]:
        """The ids of the answers whose time is measured. From here on the run has an R-VES."""
        (self.folder / _TIMINGS).touch()
        return {line["id"] for line in read_lines(self.folder / _TIMINGS)}

    def append(self, record: QuestionRecord) -> None:
        """Writes one question; no kill of this process loses it once this returns."""
        self.write(record)

    def append_timing(self, id_: str, ratio: float | None) -> None:
        """Writes how the gold's time relates to the answer's."""
        append_line(self.folder / _TIMINGS, {"id": id_, "ratio": ratio})


def read_run(folder: Path) -> tuple[Manifest, tuple[QuestionRecord, ...]]:
    """A run's manifest, and its records in the order of the sample.

    Raises SettingsError when the folder holds no run, or one that cannot be read.
    """
    manifest, records = read_journal(folder, Manifest, QuestionRecord)
    timings = folder / _TIMINGS
    ratios = (
        {line["id"]: line["ratio"] for line in read_lines(timings)} if timings.exists() else None
    )
    return manifest, tuple(_add_time(record, ratios) for record in records)


def _add_time(record: QuestionRecord, ratios: Mapping[str, float | None] | None) -> QuestionRecord:
    """R-VES of the record: 0 for what is wrong, by the time ratio for what is right."""
    if ratios is None or not record.counts:
        return record
    ratio = ratios.get(record.id)
    reward = 0.0 if ratio is None else r_ves_reward(ratio, correct=record.correct)
    return record.model_copy(update={"r_ves": reward})


def find_runs(folder: Path, kind: type[RunManifest] = Manifest) -> Sequence[Path]:
    """The runs of one kind in a folder, by name."""
    return sorted(path.parent for path in folder.glob(f"*/{kind.FILE}"))
