"""Which tests can notice a mutant: those that execute the statement it is in."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import lru_cache
from pathlib import PurePosixPath

from tests.mutation.mutant import ROOT, Mutant
from tests.mutation.tracing import Traced

_OWN_TESTS = "test_allowlists.py"
_DATABASES = ("postgres", "sqlite", "duckdb")
_DIALECT = "/dialect.py"
_GUARD = "execution/guard/guard.py"
# Tests that read allowlists are those that guard something.
_READERS = (_GUARD, "execution/duckdb/second_check.py", "execution/sqlite/allowed_nodes.py")


def list_judges(mutant: Mutant, tests: Mapping[str, Traced]) -> list[str]:
    """The names of the tests: those of the file, of its dialect or folder, then the quickest.

    What stands outside functions is executed when its module is imported, so every test that uses
    the module can notice it.
    """
    if mutant.path.endswith(".yaml"):
        # What has read a list once reads it no more, so the tests of lists are known by name.
        found = [
            name
            for name, test in tests.items()
            if _OWN_TESTS in name or any(reader in test.lines for reader in _READERS)
        ]
    else:
        wanted = _list_lines(mutant.path, mutant.line)
        # A dialect's tables are read by sqlglot, whenever a text is read or written in it.
        path = _GUARD if wanted is None and mutant.path.endswith(_DIALECT) else mutant.path
        found = [
            name
            for name, test in tests.items()
            if (lines := test.lines.get(path)) and (wanted is None or not wanted.isdisjoint(lines))
        ]
        if not found:
            # Called only when its module is imported.
            found = [name for name, test in tests.items() if test.lines.get(path)]
    own = _OWN_TESTS if mutant.path.endswith(".yaml") else _find_own(mutant.path)
    file = f"test_{PurePosixPath(mutant.path).stem}.py"
    return sorted(
        (name for name in found if tests[name].passed),
        key=lambda name: (file not in name, own not in name, tests[name].seconds),
    )


def _find_own(path: str) -> str:
    """What the names of a file's own tests hold: its database, else its folder."""
    folder = PurePosixPath(path).parent
    return folder.name if folder.name in _DATABASES else f"tests/{folder}/"


@lru_cache(maxsize=8192)
def _list_lines(path: str, line: int) -> frozenset[int] | None:
    """The lines of the innermost statement around ``line``; None outside of functions."""
    best: ast.stmt | None = None
    inside = False
    for node in ast.walk(_parse(path)):
        if not isinstance(node, ast.stmt) or not node.lineno <= line <= (node.end_lineno or 0):
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            inside = True
        if best is None or node.lineno >= best.lineno:
            best = node
    if not inside or best is None:
        return None
    end = best.end_lineno or best.lineno
    body = getattr(best, "body", None)
    if isinstance(best, ast.FunctionDef | ast.AsyncFunctionDef):
        # A default: whoever calls the function.
        return frozenset(range(best.lineno, end + 1))
    if body:
        end = max(best.lineno, body[0].lineno - 1)
    return frozenset(range(best.lineno, end + 1))


@lru_cache(maxsize=64)
def _parse(path: str) -> ast.Module:
    return ast.parse((ROOT / path).read_bytes())
