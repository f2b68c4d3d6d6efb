"""The ordinary queries: 300 for each dialect, and the guard's verdict and result on each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from execution.guard.guard import guard_query
from execution.policies.access import Access
from nl2sql.types import Violation

FIXTURES = Path(__file__).parent.parent / "fixtures"
# Of 300: 98 %. docs/explanation/threat-model.md says what is refused.
LEAST_ALLOWED = {"postgres": 294, "sqlite": 294, "duckdb": 294}

Rows = list[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Report:
    """What became of the queries: ``refused`` holds each with the reason, ``changed`` its SQL."""

    passed: int
    refused: tuple[str, ...]
    changed: tuple[str, ...]


def read_ordinary(*names: str) -> list[str]:
    """The queries of ``ordinary_NAME.sql``, one a line, comments and empty lines left out."""
    queries = []
    for name in names:
        text = (FIXTURES / f"ordinary_{name}.sql").read_text(encoding="utf-8")
        queries += [line for line in text.splitlines() if line and not line.startswith("--")]
    return queries


def run_guarded(
    queries: Sequence[str], access: Access, fetch: Callable[[str], Rows], expected: Sequence[Rows]
) -> Report:
    """Guards each query and runs what comes of it; ``expected`` are the rows of the plain ones."""
    passed, refused, changed = 0, [], []
    for sql, rows in zip(queries, expected, strict=True):
        verdict = guard_query(sql, access)
        if isinstance(verdict, Violation):
            refused.append(f"{sql}\n  {verdict.code}: {verdict.message}")
        elif repr(fetch(verdict.sql)) != repr(rows):
            changed.append(f"{sql}\n  {verdict.sql}")
        else:
            passed += 1
    return Report(passed, tuple(refused), tuple(changed))
