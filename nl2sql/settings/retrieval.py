"""Which part of the schema is shown for a question: the section ``retrieval``."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from nl2sql.settings.section import Section


class RetrievalSettings(Section):
    """What of the schema the model gets to see."""

    max_tables: int = Field(8, ge=1, le=200, description="Tables that search finds for a question.")
    module_tables: int = Field(
        16,
        ge=0,
        le=200,
        description="A database of no more tables is shown whole, and so is the module of the best "
        "table; what the engine read of it serves the next question too.",
    )
    fk_expansion_limit: int = Field(
        2, ge=0, le=100, description="How many of them may come in over foreign keys alone."
    )
    max_values: int = Field(8, ge=0, le=100, description="Matched cell values a question.")
    examples: int = Field(3, ge=0, le=20, description="Verified questions shown as examples.")
    example_selection: Literal["similar", "random"] = Field(
        "similar", description="The nearest by meaning, or drawn with the question's seed."
    )
    example_min_similarity: float = Field(
        0.4, ge=-1, le=1, description="An example less like the question is not shown."
    )
    same_question: bool = Field(
        True,
        description="Also show an example whose question is the very one that is asked. "
        "Evaluations never do.",
    )
    linking: Literal["deterministic", "full", "tcsl", "scsl"] = Field(
        "deterministic",
        description="Who links the question to the schema: rules; or the model, over the whole "
        "schema at once, tables then columns, or column by column.",
    )
    join_alternatives: int = Field(
        2, ge=0, le=10, description="Next best ways to join, besides the best."
    )
    pruning_min_tables: int = Field(
        50, ge=0, description="Columns are pruned in databases of at least so many tables."
    )
