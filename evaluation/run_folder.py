"""A run on disk: written question by question, so that a kill at any point loses nothing done.

::

    RUN/manifest.json       what the run is made with; written once, before the first question
    RUN/questions.jsonl     a QuestionRecord a line, appended as each is judged
    RUN/timings.jsonl       id and time ratio of right answers, measured when all are judged
    RUN/clock.json          seconds worked so far, over all sittings
    RUN/lock                held while a process writes

A line that a kill cut short is dropped when the run is opened again, and its question asked anew;
of a question that stands twice, the first line counts.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from pydantic import ValidationError

from evaluation.manifest import Manifest
from evaluation.records import QuestionRecord
from nl2sql.bird_scores import r_ves_reward
from nl2sql.errors import SettingsError

_MANIFEST = "manifest.json"
_QUESTIONS = "questions.jsonl"
_TIMINGS = "timings.jsonl"
_CLOCK = "clock.json"


class RunFolder:
    """One run, written while it is open. Nothing is on disk before that."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder = folder
        self.manifest = manifest
        self._lock = FileLock(folder / "lock")

    @contextmanager
    def open(self) -> Iterator[None]:
        """Makes the run, or goes on with the one in the folder, and holds it for writing.

        Raises SettingsError when the folder holds a run made with anything else, and when another
        process writes it.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            self._lock.acquire(timeout=0)
        except Timeout as error:
            raise SettingsError(
                f"Another process is writing the run in {self.folder}.",
                hint="Wait for it, or give this one another --output.",
            ) from error
        try:
            self._adopt()
            self._worked = _read_clock(self.folder)
            self._since = time.perf_counter()
            yield
        finally:
            self._lock.release()

    def done(self) -> set[str]:
        """The ids of the questions that are judged."""
        return {each["id"] for each in _read_lines(self.folder / _QUESTIONS)}

    def start_timing(self) -> set[str]:
        """The ids of the answers whose time is measured. From here on the run has an R-VES."""
        (self.folder / _TIMINGS).touch()
        return {each["id"] for each in _read_lines(self.folder / _TIMINGS)}

    def append(self, record: QuestionRecord) -> None:
        """Writes one question; no kill of this process loses it once this returns."""
        _append(self.folder / _QUESTIONS, record.model_dump(mode="json"))
        seconds = self._worked + time.perf_counter() - self._since
        _replace(self.folder / _CLOCK, {"seconds": round(seconds, 3)})

    def append_timing(self, id_: str, ratio: float | None) -> None:
        """Writes how the gold's time relates to the answer's."""
        _append(self.folder / _TIMINGS, {"id": id_, "ratio": ratio})

    def _adopt(self) -> None:
        path = self.folder / _MANIFEST
        if not path.exists():
            _replace(path, self.manifest.model_dump(mode="json"))
            return
        before = _read_manifest(self.folder)
        if differing := _find_differences(before, self.manifest):
            raise SettingsError(
                f"{self.folder} holds a run made with other settings: {'; '.join(differing)}.",
                hint="Give this one another --output, or start over with --fresh.",
            )
        for name in (_QUESTIONS, _TIMINGS):
            _drop_torn_line(self.folder / name)


def read_run(folder: Path) -> tuple[Manifest, tuple[QuestionRecord, ...]]:
    """A run's manifest, and its records in the order of the sample.

    Raises SettingsError when the folder holds no run, or one that cannot be read.
    """
    manifest = _read_manifest(folder)
    timings = folder / _TIMINGS
    ratios = (
        {each["id"]: each["ratio"] for each in _read_lines(timings)} if timings.exists() else None
    )
    records: dict[str, QuestionRecord] = {}
    try:
        for line in _read_lines(folder / _QUESTIONS):
            record = QuestionRecord.model_validate(line)
            records.setdefault(record.id, record)
    except ValidationError as error:
        raise SettingsError(f"{folder / _QUESTIONS} cannot be read: {error}") from error
    ordered = tuple(
        _add_time(records[name], ratios) for name in manifest.question_ids if name in records
    )
    finished = len(ordered) == len(manifest.question_ids)
    clock = {"seconds": _read_clock(folder), "finished": finished}
    return manifest.model_copy(update=clock), ordered


def _add_time(record: QuestionRecord, ratios: Mapping[str, float | None] | None) -> QuestionRecord:
    """R-VES of the record: 0 for what is wrong, by the time ratio for what is right."""
    if ratios is None or not record.counts:
        return record
    ratio = ratios.get(record.id)
    reward = 0.0 if ratio is None else r_ves_reward(ratio, correct=record.correct)
    return record.model_copy(update={"r_ves": reward})


def _read_manifest(folder: Path) -> Manifest:
    path = folder / _MANIFEST
    try:
        return Manifest.model_validate_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(
            f"{folder} holds no run: there is no {_MANIFEST}.",
            hint="`quorumsql eval list` shows the runs there are.",
        ) from error
    except ValidationError as error:
        raise SettingsError(f"{path} cannot be read: {error}") from error


def _find_differences(before: Manifest, now: Manifest) -> list[str]:
    """What differs that figures may depend on, as ``key: old → new``."""
    old, new = before.identity(), now.identity()
    return [
        f"{key}: {_show(old_value)} → {_show(new_value)}"
        for key, (old_value, new_value) in _pairs(old, new)
        if old_value != new_value
    ]


def _pairs(
    old: Mapping[str, Any], new: Mapping[str, Any], prefix: str = ""
) -> Iterator[tuple[str, tuple[Any, Any]]]:
    for key in dict.fromkeys((*old, *new)):
        left, right = old.get(key), new.get(key)
        if isinstance(left, dict) and isinstance(right, dict):
            yield from _pairs(left, right, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", (left, right)


def _show(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def _read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The JSON lines of a file; a torn last one is left out."""
    if not path.exists():
        return
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.endswith("\n"):
                yield json.loads(line)


def _drop_torn_line(path: Path) -> None:
    """Cuts what a kill left of a line, or the next one would be appended to it."""
    if not path.exists():
        return
    with path.open("rb+") as file:
        content = file.read()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            file.truncate(whole)


def _append(path: Path, value: Mapping[str, Any]) -> None:
    line = json.dumps(value, ensure_ascii=False) + "\n"
    with path.open("a", encoding="utf-8") as file:
        file.write(line)


def _replace(path: Path, value: Mapping[str, Any]) -> None:
    """Writes a small file so that a kill leaves the old one or the new one, never half of it."""
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(value, indent=1), encoding="utf-8")
    partial.replace(path)


def _read_clock(folder: Path) -> float:
    path = folder / _CLOCK
    return float(json.loads(path.read_text())["seconds"]) if path.exists() else 0.0


def find_runs(folder: Path) -> Sequence[Path]:
    """The runs in a folder, by name."""
    return sorted(path.parent for path in folder.glob(f"*/{_MANIFEST}"))
