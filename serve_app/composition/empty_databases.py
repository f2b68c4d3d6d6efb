"""What to say of a database in which there is nothing to ask about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nl2sql.settings.database import DatabaseSettings
from nl2sql.skipped import Skipped, list_remedies


@dataclass(frozen=True, slots=True)
class Emptiness:
    """What is missing, and what to do about it: statements or settings, a line each."""

    message: str
    remedy: str


def describe_emptiness(
    database: str, settings: DatabaseSettings, skipped: Sequence[Skipped]
) -> Emptiness:
    """For a database without a single table that may be asked about."""
    remedies = list_remedies(skipped)
    if remedies:
        return Emptiness(
            f"The reader may see no table of {database}: nothing can be asked about it",
            "\n".join(("As the tables' owner, as far as the reader should see them:", *remedies)),
        )
    key = f"databases.{database}.schemas"
    if any(each.kind == "schema" for each in skipped):
        return Emptiness(f"{database} has no schema of those in {key}", f"Correct {key}.")
    where = f" in {', '.join(settings.schemas)}" if settings.schemas else ""
    other = f", or name other schemas in {key}" if settings.schemas else ""
    return Emptiness(
        f"{database} has no table{where} to ask about",
        f"Create one{other}; then run `quorumsql index build {database}`.",
    )
