"""The sections that the stages of a question read, together."""

from __future__ import annotations

from pydantic import Field

from nl2sql.settings.database import AssistantSettings, DatabaseSettings
from nl2sql.settings.model import ModelSettings
from nl2sql.settings.pipeline import (
    FlagSettings,
    RankingSettings,
    RepairSettings,
    RetrievalSettings,
    SamplingSettings,
)
from nl2sql.settings.section import Section


class StageSettings(Section):
    """How questions are answered, and on which databases."""

    databases: dict[str, DatabaseSettings] = Field(min_length=1)
    assistants: dict[str, AssistantSettings] = Field(
        default={},
        description="Named views of a database, which are asked like databases: `database`, "
        "`tables` (patterns; all others are refused), `instructions` for the model (at most 1,000 "
        "characters), `description`, `semantics` (a file in place of the database's).",
    )
    retrieval: RetrievalSettings = RetrievalSettings()
    model: ModelSettings = ModelSettings()
    sampling: SamplingSettings = SamplingSettings()
    ranking: RankingSettings = RankingSettings()
    repair: RepairSettings = RepairSettings()
    flags: FlagSettings = FlagSettings()

    @property
    def by_name(self) -> dict[str, DatabaseSettings]:
        """All that can be asked: the databases, then the assistants."""
        views = {
            name: assistant.extend(self.databases[assistant.database])
            for name, assistant in self.assistants.items()
        }
        return {**self.databases, **views}

    def source_of(self, name: str) -> str:
        """The database of an assistant; a database's name is returned unchanged."""
        return self.assistants[name].database if name in self.assistants else name
