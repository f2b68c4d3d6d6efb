"""Stages that can be switched off: the section ``flags``."""

from __future__ import annotations

from pydantic import Field

from nl2sql.settings.section import Section


class FlagSettings(Section):
    """Parts of the pipeline that can be switched off, under the field's names."""

    intent_gate: bool = Field(
        True, description="Refuse what is not about the database, and commands to change it."
    )
    follow_ups: bool = Field(
        True, description="Have the model complete the follow-ups of a session; costs a call each."
    )
    answer_text: bool = Field(True, description="Say in words what the rows hold.")
    module_router: bool = Field(True, description="Route to modules and favour their tables.")
    cosine: bool = Field(True, description="Rank tables by the embeddings of their cards.")
    bm25: bool = Field(True, description="Fuse keyword ranking with the vector ranking.")
    comments: bool = Field(True, description="Show the comments of tables and columns.")
    glosses: bool = Field(
        False,
        description="Describe columns that the database does not. Off: prompts grew by a tenth to "
        "two thirds, and no more answers were right.",
    )
    value_index: bool = Field(True, description="Find the question's words among cell values.")
    examples: bool = Field(True, description="Show verified questions like this one.")
    schema_linker: bool = Field(True, description="Link the question to tables and columns.")
    column_pruning: bool = Field(
        True, description="Leave out columns that a question about a large schema needs not."
    )
    pre_sql: bool = Field(
        False, description="Draft a query first, and search again for the names in it."
    )
    join_planner: bool = Field(True, description="Plan the joins between the linked tables.")
    policy_hints: bool = Field(
        False, description="Tell the model which rows the policy leaves, so that it adds no filter."
    )
    reranker: bool = Field(True, description="Vote over equivalent results, then score.")
    value_verification: bool = Field(
        False, description="Ask the database whether the texts that a candidate looks for exist."
    )
    pg_normalize: bool = Field(
        True, description="Put the words of other dialects into those of the database."
    )
    autocorrect: bool = Field(
        True, description="Repair by rule: names, joins and groups that can mean but one thing."
    )
    value_repair: bool = Field(
        False, description="Where nothing is found, try the stored value's case beside it."
    )
    model_repair: bool = Field(
        False,
        description="Ask the model where no candidate works at all. Off: of 726 attempts by the "
        "0.5B model none ran.",
    )
