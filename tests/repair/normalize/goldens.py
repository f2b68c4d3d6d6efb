"""The golden pairs of the rules: ``fixtures/normalize/<rule>.sql``.

A title is ``TARGET from SOURCE: what``; where it says that something stays, the rule itself has
nothing to do. Behind a second line ``--`` may stand the rows that the query gives, as JSON.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from tests.golden import FIXTURES, load_pairs


@dataclass(frozen=True, slots=True)
class Golden:
    """One case of a rule; ``rows`` is None where they are not known."""

    rule: str
    target: str
    title: str
    before: str
    after: str
    rows: list[list[object]] | None

    @property
    def stays(self) -> bool:
        """Whether the case shows what the rule leaves alone."""
        return "stay" in self.title


def load_goldens() -> tuple[Golden, ...]:
    """All cases of all rules."""
    found = []
    for path in sorted((FIXTURES / "normalize").glob("*.sql")):
        for pair in load_pairs(f"normalize/{path.stem}"):
            after, _, rows = pair.after.partition("\n--\n")
            target = pair.title.split()[0]
            known = json.loads(rows) if rows else None
            found.append(Golden(path.stem, target, pair.title, pair.before, after.strip(), known))
    return tuple(found)


GOLDENS = load_goldens()
IDS = [f"{golden.rule}-{golden.title}" for golden in GOLDENS]
