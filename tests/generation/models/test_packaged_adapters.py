"""The registry of packaged adapters, as it is shipped."""

from __future__ import annotations

from collections import Counter

from generation.models.files import sha256_of
from generation.models.registry import (
    ADAPTERS,
    FolderSource,
    find_adapter,
    load_adapters,
    load_registry,
)

MOST_BYTES = 12_000_000


def test_every_adapter_is_here_small_and_of_a_registered_model() -> None:
    for name, entry in load_adapters().items():
        assert entry.adapts in load_registry()
        # A shared name would be a shared folder of the store.
        assert name not in load_registry()
        (source,) = entry.sources
        assert isinstance(source, FolderSource)
        assert source.path is not None
        assert entry.file is not None
        file = source.path / entry.file
        assert file.stat().st_size == entry.bytes
        assert sha256_of(file) == entry.sha256
        assert file.stat().st_size <= MOST_BYTES
        assert file.with_suffix(".md").is_file(), "the card with licence and attribution"


def test_a_model_has_at_most_one_and_no_file_is_unregistered() -> None:
    adapts = Counter(entry.adapts for entry in load_adapters().values())
    assert all(count == 1 for count in adapts.values())
    assert {path.name for path in ADAPTERS.glob("*.gguf")} == {
        entry.file for entry in load_adapters().values()
    }
    assert find_adapter("qwen2.5-coder-7b-instruct") is None
