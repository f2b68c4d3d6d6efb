"""What rules make of a query, and the longest that they repair.

The rules compare the names and words of a query with one another, so their time grows with the
square of its length. The longest gold query of the benchmarks has 169 tokens.
"""

from __future__ import annotations

from dataclasses import dataclass

MOST_CHARS = 3_000
MOST_TOKENS = 1_000


@dataclass(frozen=True, slots=True)
class Corrected:
    """A corrected query, and the names of the rules that changed it, in their order."""

    sql: str
    rules: tuple[str, ...]
