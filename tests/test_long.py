"""What is left to ``make test-all`` is there, and is written down."""

from __future__ import annotations

import re

from tests.conftest import LONG, ROOT


def test_the_long_corpora_are_there_and_in_the_docs() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.partition("## Quick tests and long ones")[2].partition("\n## ")[0]
    listed = re.findall(r"^\| `([^`]+)`", section, re.MULTILINE)
    assert set(LONG) <= set(listed)
    for path in listed:
        assert (ROOT / path.partition("::")[0]).exists(), path


def test_each_test_that_is_long_by_itself_is_in_the_docs() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    marked = [
        path.relative_to(ROOT)
        for path in (ROOT / "tests").rglob("test_*.py")
        if re.search(r"pytest\.mark\.long\b", path.read_text()) and path.name != "test_long.py"
    ]
    assert marked
    assert not [path for path in marked if str(path) not in text]
