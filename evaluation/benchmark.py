"""Questions with gold SQL, one JSON object a line: ``{id, database, question, query}``."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from nl2sql.errors import SettingsError


@dataclass(frozen=True, slots=True)
class Example:
    """One question and the query that answers it."""

    id: str
    database: str
    question: str
    query: str
    difficulty: str = ""


def load_examples(path: Path) -> tuple[Example, ...]:
    """All examples in a JSON-lines file. Raises SettingsError naming the line that is wrong."""
    examples = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
            examples.append(
                Example(
                    str(value["id"]),
                    value["database"],
                    value["question"],
                    value["query"],
                    value.get("difficulty", ""),
                )
            )
        except (ValueError, KeyError, TypeError) as error:
            raise SettingsError(
                f"{path}:{number}: {error!r}",
                hint='Each line is {"id", "database", "question", "query"}.',
            ) from error
    return tuple(examples)
