"""A run of ``eval run`` on disk: a journal of QuestionRecords, and the times of right answers.

::

    RUN/manifest.json       the run's configuration
    RUN/questions.jsonl     one QuestionRecord per line, appended as each is judged
    RUN/timings.jsonl       id and time ratio of right answers, measured when all are judged
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from evaluation.metrics.bird_scores import r_ves_reward
from evaluation.runs.journal import Journal, read_journal
from evaluation.runs.journal_files import append_line, read_lines
from evaluation.runs.manifest import Manifest, RunManifest
from evaluation.runs.records import QuestionRecord

_TIMINGS = "timings.jsonl"


class RunFolder(Journal):
    """One run, written while it is open. Nothing is on disk before that."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        super().__init__(folder, manifest)
        self.manifest = manifest

    def start_timing(self) -> set[str]:
        """The ids of the answers already timed. After this call the run has an R-VES."""
        (self.folder / _TIMINGS).touch()
        return {line["id"] for line in read_lines(self.folder / _TIMINGS)}

    def append(self, record: QuestionRecord) -> None:
        """Writes one record; once this returns, killing the process does not lose it."""
        self.write(record)

    def append_timing(self, id_: str, ratio: float | None) -> None:
        """Writes the ratio of the gold's time to the answer's; None if it was not measured."""
        append_line(self.folder / _TIMINGS, {"id": id_, "ratio": ratio})


def read_run(folder: Path) -> tuple[Manifest, tuple[QuestionRecord, ...]]:
    """A run's manifest, and its records in the order of the sample.

    Raises SettingsError if the folder holds no run, or one that cannot be read.
    """
    manifest, records = read_journal(folder, Manifest, QuestionRecord)
    timings = folder / _TIMINGS
    ratios = (
        {line["id"]: line["ratio"] for line in read_lines(timings)} if timings.exists() else None
    )
    return manifest, tuple(_add_time(record, ratios) for record in records)


def _add_time(record: QuestionRecord, ratios: Mapping[str, float | None] | None) -> QuestionRecord:
    """Adds the record's R-VES: 0 for a wrong answer, by the time ratio for a right one."""
    if ratios is None or not record.counts:
        return record
    ratio = ratios.get(record.id)
    reward = 0.0 if ratio is None else r_ves_reward(ratio, correct=record.correct)
    return record.model_copy(update={"r_ves": reward})


def find_runs(folder: Path, kind: type[RunManifest] = Manifest) -> Sequence[Path]:
    """The runs of one kind in a folder, by name."""
    return sorted(path.parent for path in folder.glob(f"*/{kind.FILE}"))
