"""A run that is written question by question, so that a kill at any point loses no finished one.

::

    RUN/<manifest>          the run's configuration, written once before the first question
    RUN/questions.jsonl     one record per line, appended as each question is done
    RUN/clock.json          seconds worked so far, over all sessions
    RUN/lock                held while a process writes

A line that a kill truncated is dropped when the run is opened again, and its question is asked
again. If a question has two lines, the first counts. Knows nothing of the content of records.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from evaluation.runs.journal_files import append_line, drop_torn_line, hold_lock, read_lines
from evaluation.runs.manifest import RunManifest, find_differences
from evaluation.runs.records import QuestionRecord
from nl2sql.errors import SettingsError

_MANIFEST, _QUESTIONS = "manifest.json", "questions.jsonl"
_CLOCK = "clock.json"


class RunFolder:
    """One run, written while it is open. Nothing is on disk before that."""

    def __init__(self, folder: Path, manifest: RunManifest) -> None:
        self.folder = folder
        self.manifest = manifest

    @contextmanager
    def open(self) -> Iterator[None]:
        """Creates the run, or continues the one in the folder, and locks it for writing.

        Raises SettingsError if the folder holds a run with another configuration, or if another
        process writes it.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with hold_lock(
            self.folder / "lock",
            f"Another process is writing the run in {self.folder}.",
            "Wait for it, or give this one another --output.",
        ):
            self._adopt()
            self._worked = _read_clock(self.folder)
            self._since = time.perf_counter()
            yield

    def done(self) -> set[str]:
        """The ids of the questions that have a record."""
        return {line["id"] for line in read_lines(self.folder / _QUESTIONS)}

    def is_complete(self) -> bool:
        """True when every question has its record."""
        return set(self.manifest.question_ids) <= self.done()

    def append(self, record: QuestionRecord) -> None:
        """Writes one record; once this returns, killing the process does not lose it."""
        append_line(self.folder / _QUESTIONS, record.model_dump(mode="json"))
        seconds = self._worked + time.perf_counter() - self._since
        _replace(self.folder / _CLOCK, {"seconds": round(seconds, 3)})

    def set_aside(self) -> None:
        """Renames an existing folder: figures that took hours are never deleted."""
        if not self.folder.exists():
            return
        number = 1
        while (aside := self.folder.with_name(f"{self.folder.name}.old{number}")).exists():
            number += 1
        self.folder.rename(aside)

    def _adopt(self) -> None:
        path = self.folder / _MANIFEST
        if not path.exists():
            _replace(path, self.manifest.model_dump(mode="json"))
            return
        before = read_manifest(self.folder)
        if differing := _find_differences(before, self.manifest):
            raise SettingsError(
                f"{self.folder} holds a run made with other settings: {'; '.join(differing)}.",
                hint="Give this one another --output, or start over with --fresh.",
            )
        for file in self.folder.glob("*.jsonl"):
            drop_torn_line(file)


def read_manifest(folder: Path) -> RunManifest:
    """Reads the manifest of the run in a folder. Raises SettingsError if it holds none."""
    path = folder / _MANIFEST
    try:
        return RunManifest.model_validate_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(
            f"{folder} holds no run: there is no {_MANIFEST}.",
            hint="`quorumsql eval report` shows the runs there are.",
        ) from error
    except ValidationError as error:
        raise SettingsError(f"{path} cannot be read: {error}") from error


def read_run(folder: Path) -> tuple[RunManifest, tuple[QuestionRecord, ...]]:
    """A run's manifest with its clock, and its records in the order of the sample.

    Raises SettingsError if the folder holds no run, or one that cannot be read.
    """
    manifest = read_manifest(folder)
    records: dict[str, QuestionRecord] = {}
    try:
        for line in read_lines(folder / _QUESTIONS):
            records.setdefault(line["id"], QuestionRecord.model_validate(line))
    except ValidationError as error:
        raise SettingsError(f"{folder / _QUESTIONS} cannot be read: {error}") from error
    ordered = tuple(records[name] for name in manifest.question_ids if name in records)
    finished = len(ordered) == len(manifest.question_ids)
    clock = {"seconds": _read_clock(folder), "finished": finished}
    return manifest.model_copy(update=clock), ordered


def find_runs(folder: Path) -> Sequence[Path]:
    """The runs in a folder, by name."""
    return sorted(path.parent for path in folder.glob(f"*/{_MANIFEST}"))


def _find_differences(before: RunManifest, now: RunManifest) -> list[str]:
    """The differences that can affect figures, as ``key: old → new``."""
    return [
        f"{key}: {_show(old)} → {_show(new)}"
        for key, old, new in find_differences(before.identity(), now.identity())
    ]


def _show(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def _replace(path: Path, value: Mapping[str, Any]) -> None:
    """Writes a small file atomically: a kill leaves either the old or the new one."""
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(value, indent=1), encoding="utf-8")
    partial.replace(path)


def _read_clock(folder: Path) -> float:
    path = folder / _CLOCK
    return float(json.loads(path.read_text())["seconds"]) if path.exists() else 0.0
