"""What is left to ``make test-all`` is there, and each file of it says what it checks."""

from __future__ import annotations

import ast
import re

from tests.conftest import LONG, ROOT


def test_long_tests_are_there_and_say_what_they_check() -> None:
    corpora = [path if path.suffix else path / "__init__.py" for path in map(ROOT.joinpath, LONG)]
    marked = [
        path
        for path in (ROOT / "tests").rglob("test_*.py")
        if re.search(r"pytest\.mark\.long\b", path.read_text()) and path.name != "test_long.py"
    ]
    assert marked
    silent = [
        path for path in corpora + marked if not ast.get_docstring(ast.parse(path.read_text()))
    ]
    assert silent == []
