"""The trace of an answer: every step that led to it, without the candidates' rows."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from quorumsql.contract.model import PREDICATES, CandidateCount, ResponseModel, Text


class ModuleResponse(ResponseModel):
    """A module that the question was routed to."""

    module: Text
    confidence: float


class TableResponse(ResponseModel):
    """A table that search found, or that was added with one that it found."""

    table: Text
    via: Text
    score: float
    cosine: float | None
    cosine_rank: int | None
    bm25_rank: int | None


class LinkResponse(ResponseModel):
    """A phrase of the question that names a table or column."""

    phrase: Text
    table: Text
    column: Text
    score: float
    method: Text


class ValueResponse(ResponseModel):
    """A phrase of the question that matches a stored value."""

    phrase: Text
    table: Text
    column: Text
    value: Text
    score: float


class DefinitionResponse(ResponseModel):
    """A definition of the semantic layer that the question names."""

    kind: Literal["measure", "dimension", "filter"]
    name: Text
    phrase: Text = Field(description="The name or synonym that the question contains.")
    expression: Text
    condition: Text
    source: Text = Field(description="The file that defines it.")
    used: bool = Field(description="Whether the query that was chosen uses it.")


class ExampleResponse(ResponseModel):
    """A verified example that was shown to the model."""

    question: Text
    sql: Text
    similarity: float


class MessageResponse(ResponseModel):
    """A message of a prompt."""

    role: Text
    content: Text


class ViolationResponse(ResponseModel):
    """Why the guard refused a candidate."""

    code: Text
    message: Text


class EstimateResponse(ResponseModel):
    """The database planner's estimate; null where it would reveal withheld rows."""

    cost: float
    rows: float


class ErrorResponse(ResponseModel):
    """The database's error."""

    sqlstate: Text
    message: Text


class FindingResponse(ResponseModel):
    """What a lint rule found."""

    rule: Text
    severity: Text
    message: Text


class ScoreResponse(ResponseModel):
    """The score and its terms.

    A term is the strength of a measure times its points; ``strengths`` are those.
    """

    total: float
    terms: dict[str, float]
    strengths: dict[str, float]


class CandidateResponse(ResponseModel):
    """A candidate; the trace lists the best first."""

    id: Text
    sql: Text
    origin: Text
    repairs: Text = Field(description="The id of the candidate that it repairs; empty: none.")
    derived_from: Text = Field(
        "", description="The id of the candidate that it was derived from; empty: none."
    )
    rule: Text = Field("", description="The rule by which it was derived.")
    samples: int
    variant: Text
    votes: int
    weight: float
    group: int
    unrun: Text
    guard: Literal["passed", "refused"]
    violation: ViolationResponse | None
    guarded_sql: Text | None = Field(
        description="The query as it ran; null for who is restricted, apart from operators."
    )
    predicates: list[Text] = Field(description=PREDICATES)
    explain: EstimateResponse | None
    error: ErrorResponse | None
    findings: list[FindingResponse]
    score: ScoreResponse
    definitions: list[Text] = Field([], description="Names of the definitions that it uses.")
    rows: int | None
    truncated: bool
    ms: float | None


class RepairResponse(ResponseModel):
    """An attempt to repair a candidate."""

    candidate: Text
    cause: Text
    method: Text
    outcome: Text
    sql: Text
    rules: list[Text]
    error_class: Text
    attempt: int


class StageResponse(ResponseModel):
    """The duration of a stage in milliseconds, and its tokens."""

    stage: Text
    ms: float
    prompt_tokens: int
    completion_tokens: int


class TraceResponse(ResponseModel):
    """Everything that led to the answer."""

    k: CandidateCount
    samples: int
    wanted: int
    ended_early: bool
    seed: int
    principal: Text
    gate: Text
    rewriting: Text
    modules: list[ModuleResponse]
    tables: list[TableResponse]
    links: list[LinkResponse]
    columns: dict[str, list[Text]] = Field(
        description="The columns that were kept, by table, where some were pruned."
    )
    values: list[ValueResponse]
    definitions: list[DefinitionResponse] = Field(
        [], description="The definitions that the question names."
    )
    glosses: list[list[Text]]
    examples: list[ExampleResponse]
    join_skeleton: Text
    inferred_joins: list[Text]
    draft_query: Text
    left_out: list[Text]
    prompts: dict[str, list[MessageResponse]]
    features: dict[str, float]
    threshold: float
    candidates: list[CandidateResponse]
    repairs: list[RepairResponse]
    stages: list[StageResponse]
