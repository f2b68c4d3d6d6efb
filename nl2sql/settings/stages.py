"""The sections that the stages of a question read, together."""

from __future__ import annotations

from pydantic import Field

from nl2sql.settings.database import DatabaseSettings
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
    retrieval: RetrievalSettings = RetrievalSettings()
    model: ModelSettings = ModelSettings()
    sampling: SamplingSettings = SamplingSettings()
    ranking: RankingSettings = RankingSettings()
    repair: RepairSettings = RepairSettings()
    flags: FlagSettings = FlagSettings()
