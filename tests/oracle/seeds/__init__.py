"""Queries of every kind that a database's regression tests cover, over the demo ERP's tables.

Written for the fuzzers to change: many are refused as they stand. One statement ends with ``;`` at
the end of a line; lines that begin with ``--`` say what a file is about.
"""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).parent


def load_seeds(name: str = "*") -> list[tuple[str, str]]:
    """(topic, statement) of ``NAME.sql``, of all files where none is named."""
    found = []
    for path in sorted(_FOLDER.glob(f"{name}.sql")):
        lines = path.read_text(encoding="utf-8").splitlines()
        text = "\n".join(line for line in lines if not line.startswith("--"))
        statements = f"{text}\n".split(";\n")
        found += [(path.stem, statement.strip()) for statement in statements if statement.strip()]
    return found
