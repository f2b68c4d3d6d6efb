"""What runs means what the original text means; see the package's docstring.

``python -m tests.oracle meaning`` compares tens of thousands of statements on each database.
"""

from __future__ import annotations

import random
from types import ModuleType

import pytest

from tests.oracle.meaning import duckdb, sqlite
from tests.oracle.meaning.comparison import Kind

_MODULES = pytest.mark.parametrize("module", [sqlite, duckdb], ids=["sqlite", "duckdb"])


@pytest.mark.quick
@_MODULES
def test_a_few_statements(module: ModuleType) -> None:
    check(module, statements=300)


@_MODULES
def test_many_statements(module: ModuleType) -> None:
    check(module, statements=5000)


def check(module: ModuleType, *, statements: int) -> None:
    """No difference, and enough statements that were compared."""
    tally = module.judge_meaning(random.Random(7), statements=statements)
    assert not tally.differences, tally.render()
    assert tally.total == statements
    assert tally.count(Kind.SAME) >= statements / 4, tally.render()
