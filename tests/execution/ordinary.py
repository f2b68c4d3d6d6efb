"""The ordinary queries: 300 for each dialect."""

from __future__ import annotations

from pathlib import Path

FIXTURES = Path(__file__).parent.parent / "fixtures"
# Of 300: 97.7 %. docs/explanation/threat-model.md says what is refused.
LEAST_ANSWERED = 293


def read_ordinary(*names: str) -> list[str]:
    """The queries of ``ordinary_NAME.sql``, one a line, comments and empty lines left out."""
    queries = []
    for name in names:
        text = (FIXTURES / f"ordinary_{name}.sql").read_text(encoding="utf-8")
        queries += [line for line in text.splitlines() if line and not line.startswith("--")]
    return queries
