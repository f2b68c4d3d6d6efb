"""Parts of the pipeline that can be switched off: the section ``flags``."""

from __future__ import annotations

from pydantic import Field

from nl2sql.settings.section import Section


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
        True, description="Repair names, joins and groups by rule, where the repair is unambiguous."
    )
    model_repair: bool = Field(
        False,
        description="Let the model repair if no candidate works. Off, because none of 726 repairs "
        "by the 0.5B model ran.",
    )
