"""How questions are answered: the sections of the pipeline's stages."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from nl2sql.settings.section import Section
from quorumsql.contract.model import CandidateCount


class FlagSettings(Section):
    """Switches of parts of the pipeline."""

    intent_gate: bool = Field(
        True,
        description="Refuse questions that are not about the database, and commands to change it; "
        "answer those about its tables and columns without the model.",
    )
    follow_ups: bool = Field(
        True,
        description="Let the model complete the follow-ups of a session; each costs one call.",
    )
    module_router: bool = Field(
        True, description="Route questions to modules and favour their tables."
    )
    cosine: bool = Field(True, description="Rank tables by the embeddings of their cards.")
    bm25: bool = Field(True, description="Fuse keyword ranking with the vector ranking.")
    named_tables: bool = Field(
        True,
        description="Favour tables whose name the question contains, or whose kind its business "
        "terms mean.",
    )
    glosses: bool = Field(
        False,
        description="Describe columns that have no comment. Off, because prompts grew by a tenth "
        "to two thirds and no more answers were right.",
    )
    value_index: bool = Field(True, description="Find the question's words among cell values.")
    schema_linker: bool = Field(True, description="Link the question to tables and columns.")
    column_pruning: bool = Field(True, description="Leave out irrelevant columns of large schemas.")
    pre_sql: bool = Field(
        False, description="Draft a query first, then search again with the names in it."
    )
    join_planner: bool = Field(True, description="Plan the joins between the linked tables.")
    vote: bool = Field(True, description="Vote over equivalent results, then score.")
    dialect_normalize: bool = Field(
        True, description="Translate constructs of other dialects into the database's own."
    )
    autocorrect: bool = Field(
        True, description="Repair names and joins by rule, where the repair is unambiguous."
    )
    model_repair: bool = Field(
        False,
        description="Let the model repair the best candidate if none works. Of 740 repairs by "
        "models of 0.5 and 1.5 billion parameters none ran; for larger ones.",
    )


class RetrievalSettings(Section):
    """Which part of the schema, values and examples the model sees."""

    max_tables: int = Field(
        18,
        ge=1,
        le=200,
        description="Tables that search finds for a question. The first three are shown in full; "
        "the others by the names of the columns that are most likely needed.",
    )
    whole_tables: int = Field(
        16,
        ge=0,
        le=200,
        description="A database of at most so many tables is shown whole; of a larger one, the "
        "module of the best table, if it has at most so many and two thirds of max_tables. The "
        "engine's cache of it serves the next question too.",
    )
    fk_expansion_limit: int = Field(
        4,
        ge=0,
        le=100,
        description="How many tables may be added by foreign keys alone; 0 also ranks without "
        "the keys.",
    )
    examples: int = Field(
        3,
        ge=0,
        le=20,
        description="Verified questions shown as examples; every second candidate sees examples "
        "made from keys where these are fewer.",
    )
    example_min_similarity: float = Field(
        0.4, ge=-1, le=1, description="Examples with a lower cosine similarity are not shown."
    )
    same_question: bool = Field(
        True,
        description="Also show an example whose question equals the one asked. Evaluations never "
        "do.",
    )


MOST_ADAPTIVE_K = 8
"""Most candidates in all rounds together, where their number is adaptive."""


class SamplingSettings(Section):
    """How candidates are drawn."""

    k: CandidateCount = Field(
        "adaptive",
        description="Candidates if the request names no k; adaptive: four, and four more where "
        "these do not agree.",
    )
    temperature: float = Field(
        0.7, ge=0, le=2, description="For k > 1; a single candidate is sampled greedily."
    )
    max_tokens: int = Field(
        320, ge=16, le=4096, description="Longest answer of the model, in tokens."
    )


class RankingSettings(Section):
    """The vote and its confidence."""

    min_confidence: float | None = Field(
        None,
        ge=0,
        le=1,
        description="Below this confidence the outcome is clarify, and always at confidence 0; 0: "
        "every other answer is given. Unset: the threshold of the calibration.",
    )
    calibration: Path | None = Field(
        None,
        description="How agreement becomes a confidence: by a file that `quorumsql eval calibrate` "
        "wrote; unset: by the packaged calibration.",
    )


class RepairSettings(Section):
    """How many candidates are derived."""

    derived: int = Field(
        8,
        ge=0,
        le=64,
        description="Most candidates that are derived from those that run, by rule and without the "
        "model; 0: none.",
    )


class SessionSettings(Section):
    """Conversations: follow-up questions are completed from earlier turns of the session."""

    history_days: int = Field(
        90,
        ge=0,
        le=36_500,
        description="Conversations are listed for their principal for this many days after their "
        "latest question; 0: none are listed, and only a day is kept for follow-up questions.",
    )
