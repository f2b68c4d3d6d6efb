"""A user's YAML file is read, or it is said what is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from nl2sql.errors import PolicyError, SettingsError
from nl2sql.yaml_file import read_yaml


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "some.yaml"


def test_a_mapping_may_be_built_on_another(file: Path) -> None:
    file.write_text("one: &one {a: 1, b: 2}\ntwo: {<<: *one, b: 3}", encoding="utf-8")
    assert read_yaml(file)["two"] == {"a": 1, "b": 3}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a: 1\nb: 2\na: 3\n", "duplicate key 'a'"),
        (b"a: {b: 1, b: 2}", "duplicate key 'b'"),
        (b"a: [", "is not valid YAML"),
        (b"? [1, 2]\n: x", "unhashable"),
        (b"a: !!python/object/apply:os.getcwd []", "is not valid YAML"),
        (b"[" * 600, "is not valid YAML"),
        (b"a: \xff", "UTF-8"),
    ],
)
def test_what_is_wrong_is_said(file: Path, content: bytes, message: str) -> None:
    file.write_bytes(content)
    with pytest.raises(SettingsError, match=message) as caught:
        read_yaml(file)
    assert str(file) in caught.value.message


def test_a_missing_file_is_named_for_what_it_is(file: Path) -> None:
    with pytest.raises(
        PolicyError, match=r"Cannot read the policy file .*: No such file"
    ) as caught:
        read_yaml(file, called="policy file", hint="Write one.", error=PolicyError)
    assert caught.value.hint == "Write one."
