"""Converts answers, their traces and the events of a question to the models of the contract."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Literal, TypeVar

from generation.conversation.headings import name_columns
from nl2sql.answers import Answer, Answered, Clarify, Failed, QuestionEvent, Refused, Trace
from nl2sql.results.json_values import to_json_value
from nl2sql.types import (
    Assessment,
    Definition,
    GuardedQuery,
    Interpretation,
    ModuleRoute,
    Plan,
    Progress,
    Ranking,
    ResultSet,
    RetrievedTable,
    SchemaContext,
    VerifiedQuery,
    Violation,
)
from quorumsql.contract.answers import (
    AnsweredResponse,
    AttemptResponse,
    ClarifyResponse,
    FailedResponse,
    InterpretationResponse,
    QueryResponse,
    RefusedResponse,
    ResultColumn,
    VerifiedResponse,
)
from quorumsql.contract.events import (
    CandidateEvent,
    ProgressEvent,
    RowsEvent,
    StageEvent,
    VoteEvent,
)
from quorumsql.contract.model import ResponseModel
from quorumsql.contract.trace import (
    CandidateResponse,
    DefinitionResponse,
    ModuleResponse,
    ScoreResponse,
    StageResponse,
    TableResponse,
    TraceResponse,
)

_M = TypeVar("_M", bound=ResponseModel)


def copy_fields(model: type[_M], *sources: object, **others: Any) -> _M:
    """A response with ``others``; each further field is the first source's that has its name.

    Objects inside are converted in the same way. Raises ValidationError if a field is missing.
    """
    fields = dict(others)
    for name in model.model_fields.keys() - others.keys():
        for source in sources:
            if hasattr(source, name):
                fields[name] = getattr(source, name)
                break
    return model.model_validate(fields, from_attributes=True)


def build_response(answer: Answer, *, trace: bool) -> QueryResponse:
    """The answer as clients get it, with its trace if ``trace`` is true."""
    question = answer.trace.question
    common = {
        "question": answer.trace.asked or question.text,
        "database": question.database,
        "session": question.session or None,
        "rewritten": question.text if answer.trace.asked else None,
        "notes": list(answer.trace.notes),
        "trace": build_trace(answer.trace) if trace else None,
    }
    match answer:
        case Answered():
            result = answer.result
            return copy_fields(
                AnsweredResponse,
                answer,
                result,
                **common,
                columns=build_columns(result),
                rows=build_rows(result),
                verified=_render_verified(answer.verified),
            )
        case Refused():
            return copy_fields(RefusedResponse, answer, **common)
        case Clarify():
            interpretations = [_build_interpretation(each) for each in answer.interpretations]
            return copy_fields(ClarifyResponse, answer, **common, interpretations=interpretations)
        case Failed():
            attempts = [
                copy_fields(AttemptResponse, attempt, error=attempt.cause)
                for attempt in answer.attempts
            ]
            return copy_fields(FailedResponse, answer, **common, attempts=attempts)


def build_event(event: QuestionEvent) -> ProgressEvent:
    """What happened to a question, as a stream tells it."""
    match event:
        case Progress():
            return StageEvent(**asdict(event))
        case Assessment():
            status, reason = _judge(event)
            return copy_fields(CandidateEvent, event.candidate, status=status, reason=reason)
        case Ranking():
            leader = event.winner
            return copy_fields(
                VoteEvent,
                event,
                leader=leader.candidate.sql if leader else "",
                votes=leader.votes if leader else 0,
            )
        case Answered(sql=sql, result=result):
            return RowsEvent(
                sql=sql,
                columns=build_columns(result),
                rows=build_rows(result),
                truncated=result.truncated,
            )


def _render_verified(verified: VerifiedQuery | None) -> VerifiedResponse | None:
    if verified is None:
        return None
    at = verified.given_at.isoformat(timespec="seconds")
    parameters = dict(verified.parameters)
    return copy_fields(
        VerifiedResponse, verified, by=verified.given_by, at=at, parameters=parameters
    )


def _judge(assessment: Assessment) -> tuple[Literal["accepted", "refused", "failed"], str]:
    if isinstance(assessment.verdict, Violation):
        return "refused", assessment.verdict.message
    if assessment.diagnostic is not None:
        return "failed", assessment.diagnostic.message
    return "accepted", ""


def _build_interpretation(interpretation: Interpretation) -> InterpretationResponse:
    result = interpretation.result or ResultSet((), (), (), truncated=False, ms=0.0)
    return copy_fields(
        InterpretationResponse,
        interpretation,
        result,
        columns=build_columns(result),
        rows=build_rows(result),
    )


def build_columns(result: ResultSet) -> list[ResultColumn]:
    """The columns as clients get them."""
    return [
        ResultColumn(name=name, type=kind, heading=heading)
        for name, kind, heading in zip(
            result.columns, result.types, name_columns(result.columns, result.units), strict=True
        )
    ]


def build_rows(result: ResultSet) -> list[list[Any]]:
    """The rows as JSON values."""
    return [[to_json_value(value) for value in row] for row in result.rows]


def build_trace(trace: Trace) -> TraceResponse:
    """Everything that led to the answer, without the candidates' rows."""
    route = trace.route or ModuleRoute()
    context = trace.context or SchemaContext()
    plan = trace.plan or Plan()
    ranking = trace.ranking or Ranking()
    used = ranking.winner.definitions if ranking.winner else ()
    return copy_fields(
        TraceResponse,
        trace,
        k=trace.question.k,
        samples=ranking.samples,
        seed=trace.question.seed,
        principal=trace.question.principal.name,
        gate=trace.intent.method,
        rewriting=trace.rewriting.method,
        modules=[
            ModuleResponse(module=module, confidence=confidence)
            for module, confidence in zip(route.modules, route.confidences, strict=True)
        ],
        tables=[_build_table(hit) for hit in context.tables],
        links=plan.links,
        columns=dict(plan.columns),
        values=context.values,
        definitions=[_build_definition(each, used) for each in context.definitions],
        glosses=context.glosses,
        examples=context.examples,
        join_skeleton=plan.joins.skeleton,
        inferred_joins=[
            f"{key.table}({', '.join(key.columns)}) = {key.target}({', '.join(key.target_columns)})"
            for key in plan.joins.keys
            if key.inferred
        ],
        prompts={variant: prompt.messages for variant, prompt in trace.prompts},
        features=dict(ranking.features),
        threshold=ranking.threshold,
        candidates=[
            _build_candidate(assessment, shows_policy=trace.shows_policy)
            for assessment in ranking.assessments
        ],
        stages=[
            copy_fields(StageResponse, timing, ms=round(timing.ms, 2)) for timing in trace.timings
        ],
    )


def _build_table(hit: RetrievedTable) -> TableResponse:
    cosine = round(hit.cosine, 4) if hit.cosine is not None else None
    return copy_fields(TableResponse, hit, table=hit.table.qualified, cosine=cosine)


def _build_definition(definition: Definition, used: Sequence[str]) -> DefinitionResponse:
    return copy_fields(DefinitionResponse, definition, used=definition.name in used)


def list_predicates(query: GuardedQuery) -> list[str]:
    """The filters of a query as its principal may read them, as ``table: condition``.

    The table alone where the condition is not shown.
    """
    return [f"{table}: {condition}" if condition else table for table, condition in query.row_rules]


def _build_candidate(assessment: Assessment, *, shows_policy: bool) -> CandidateResponse:
    candidate, verdict, result = assessment.candidate, assessment.verdict, assessment.result
    violation = verdict if isinstance(verdict, Violation) else None
    query = None if isinstance(verdict, Violation) else verdict
    terms = assessment.score.terms
    return copy_fields(
        CandidateResponse,
        candidate,
        assessment,
        guard="refused" if violation else "passed",
        violation=violation,
        guarded_sql=query.sql if query and (shows_policy or not query.restricted) else None,
        predicates=list_predicates(query) if query else [],
        # The planner's estimate counts rows that a restricted principal may not see.
        explain=assessment.explained if query and not query.restricted else None,
        error=assessment.diagnostic,
        score=ScoreResponse(
            total=assessment.score.total,
            terms={term.name: term.value for term in terms},
            strengths={term.name: term.strength for term in terms},
        ),
        rows=len(result.rows) if result else None,
        truncated=bool(result and result.truncated),
        ms=round(result.ms, 2) if result else None,
    )
