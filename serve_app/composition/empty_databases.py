"""Describes a database without tables to ask about, and the remedy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nl2sql.settings.database import DatabaseSettings
from nl2sql.skipped import Skipped, list_remedies


@dataclass(frozen=True, slots=True)
class MissingData:
    """What is missing, and the remedy: statements or settings, one a line."""

    message: str
    remedy: str


def describe_emptiness(
    database: str, settings: DatabaseSettings, skipped: Sequence[Skipped]
) -> MissingData:
    """Describes a database of which no table can be asked about."""
    remedies = list_remedies(skipped)
    if remedies:
        return MissingData(
            f"The reader cannot SELECT from any table of {database}: it cannot be asked about",
            "\n".join(("As the owner of the tables, for those to be asked about:", *remedies)),
        )
    key = f"databases.{database}.schemas"
    if any(item.kind == "schema" for item in skipped):
        return MissingData(f"{database} has none of the schemas in {key}", f"Correct {key}.")
    where = f" in {', '.join(settings.schemas)}" if settings.schemas else ""
    other = f", or name other schemas in {key}" if settings.schemas else ""
    return MissingData(
        f"{database} has no table{where} to ask about",
        f"Create one{other}; then run `quorumsql index build {database}`.",
    )
