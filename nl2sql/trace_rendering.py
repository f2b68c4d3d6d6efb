"""Converts traces to the model of the contract."""

from __future__ import annotations

from nl2sql.answers import Trace
from nl2sql.speed import Pace
from nl2sql.types import (
    Assessment,
    GuardedQuery,
    ModuleRoute,
    Plan,
    Prompt,
    Ranking,
    SchemaContext,
    Violation,
)
from quorumsql.contract.trace import (
    CandidateResponse,
    DefinitionResponse,
    ErrorResponse,
    EstimateResponse,
    ExampleResponse,
    FindingResponse,
    LinkingResponse,
    LinkResponse,
    MessageResponse,
    ModuleResponse,
    PaceResponse,
    RepairResponse,
    ScoreResponse,
    StageResponse,
    TableResponse,
    TraceResponse,
    ValueResponse,
    ViolationResponse,
)

_NO_ROUTE = ModuleRoute((), "off", ())
_NO_CONTEXT = SchemaContext((), (), ())


def build_trace(trace: Trace) -> TraceResponse:
    """Everything that led to the answer, without the candidates' rows."""
    route = trace.route or _NO_ROUTE
    context = trace.context or _NO_CONTEXT
    plan = trace.plan or Plan()
    ranking = trace.ranking or Ranking()
    used = ranking.winner.definitions if ranking.winner else ()
    return TraceResponse(
        k=trace.question.k,
        samples=ranking.samples,
        wanted=trace.wanted,
        ended_early=trace.ended_early,
        pace=build_pace(trace.pace),
        seed=trace.question.seed,
        principal=trace.question.principal.name,
        gate=trace.intent.method,
        rewriting=trace.rewriting.method,
        modules=[
            ModuleResponse(module=module, confidence=confidence)
            for module, confidence in zip(route.modules, route.confidences, strict=True)
        ],
        tables=[
            TableResponse(
                table=hit.table.qualified,
                via=hit.via,
                score=hit.score,
                cosine=round(hit.cosine, 4) if hit.cosine is not None else None,
                cosine_rank=hit.cosine_rank,
                bm25_rank=hit.bm25_rank,
            )
            for hit in context.tables
        ],
        links=[
            LinkResponse(
                phrase=link.phrase,
                table=link.table,
                column=link.column,
                score=link.score,
                method=link.method,
            )
            for link in plan.links.links
        ],
        linking=LinkingResponse(
            technique=plan.links.technique if trace.plan else "", note=plan.links.note
        ),
        columns={table: list(columns) for table, columns in plan.columns},
        values=[
            ValueResponse(
                phrase=match.phrase,
                table=match.table,
                column=match.column,
                value=match.value,
                score=match.score,
            )
            for match in context.values
        ],
        definitions=[
            DefinitionResponse(
                kind=definition.kind,
                name=definition.name,
                phrase=definition.phrase,
                expression=definition.expression,
                condition=definition.condition,
                source=definition.source,
                used=definition.name in used,
            )
            for definition in context.definitions
        ],
        glosses=[list(gloss) for gloss in context.glosses],
        examples=[
            ExampleResponse(
                question=example.question, sql=example.sql, similarity=example.similarity
            )
            for example in context.examples
        ],
        join_skeleton=plan.joins.skeleton,
        join_alternatives=[path.skeleton for path in plan.joins.alternatives],
        inferred_joins=[
            f"{key.table}({', '.join(key.columns)}) = {key.target}({', '.join(key.target_columns)})"
            for key in plan.joins.keys
            if key.inferred
        ],
        draft_query=trace.draft_query,
        left_out=list(trace.left_out),
        prompt=_build_messages(trace.prompt) if trace.prompt else [],
        prompts={variant: _build_messages(prompt) for variant, prompt in trace.prompts},
        features=dict(ranking.features),
        threshold=ranking.threshold,
        candidates=[
            _build_candidate(assessment, shows_policy=trace.shows_policy)
            for assessment in ranking.assessments
        ],
        repairs=[
            RepairResponse(
                candidate=repair.candidate,
                cause=repair.cause,
                method=repair.method,
                outcome=repair.outcome,
                sql=repair.sql,
                rules=list(repair.rules),
                error_class=repair.error_class,
                attempt=repair.attempt,
                risks=list(repair.risks),
            )
            for repair in trace.repairs
        ],
        stages=[
            StageResponse(
                stage=timing.stage,
                ms=round(timing.ms, 2),
                prompt_tokens=timing.prompt_tokens,
                completion_tokens=timing.completion_tokens,
            )
            for timing in trace.timings
        ],
    )


def build_pace(pace: Pace) -> PaceResponse:
    """How fast the model is, and when sampling ends."""
    speed, timeout_s = pace.speed, pace.sampling_timeout_s
    return PaceResponse(
        prompt_tokens_per_s=speed.prompt_tokens_per_s if speed else None,
        answer_tokens_per_s=speed.answer_tokens_per_s if speed else None,
        sampling_timeout_ms=None if timeout_s is None else round(timeout_s * 1000),
        model=pace.model,
        model_choice=pace.choice,
    )


def _build_messages(prompt: Prompt) -> list[MessageResponse]:
    return [
        MessageResponse(role=message.role, content=message.content) for message in prompt.messages
    ]


def list_predicates(query: GuardedQuery) -> list[str]:
    """The filters of a query as its principal may read them, as ``table: condition``.

    The table alone where the condition is not shown.
    """
    return [f"{table}: {condition}" if condition else table for table, condition in query.row_rules]


def _build_candidate(assessment: Assessment, *, shows_policy: bool) -> CandidateResponse:
    candidate, verdict, result = assessment.candidate, assessment.verdict, assessment.result
    explained, diagnostic = assessment.explained, assessment.diagnostic
    violation = verdict if isinstance(verdict, Violation) else None
    query = None if isinstance(verdict, Violation) else verdict
    # The planner's estimate counts rows that a restricted principal may not see.
    estimate = explained if query and not query.restricted else None
    return CandidateResponse(
        id=candidate.id,
        sql=candidate.sql,
        origin=candidate.origin,
        repairs=candidate.repairs,
        derived_from=candidate.derived_from,
        rule=candidate.rule,
        samples=candidate.samples,
        variant=candidate.variant,
        logprob=candidate.logprob,
        votes=assessment.votes,
        weight=assessment.weight,
        group=assessment.group,
        unrun=assessment.unrun,
        guard="refused" if violation else "passed",
        violation=ViolationResponse(code=violation.code, message=violation.message)
        if violation
        else None,
        guarded_sql=query.sql if query and (shows_policy or not query.restricted) else None,
        predicates=list_predicates(query) if query else [],
        explain=EstimateResponse(cost=estimate.cost, rows=estimate.rows) if estimate else None,
        error=ErrorResponse(sqlstate=diagnostic.sqlstate, message=diagnostic.message)
        if diagnostic
        else None,
        findings=[
            FindingResponse(rule=finding.rule, severity=finding.severity, message=finding.message)
            for finding in assessment.findings
        ],
        score=ScoreResponse(
            total=assessment.score.total,
            terms={term.name: term.value for term in assessment.score.terms},
            strengths={term.name: term.strength for term in assessment.score.terms},
        ),
        definitions=list(assessment.definitions),
        rows=len(result.rows) if result else None,
        truncated=bool(result and result.truncated),
        ms=round(result.ms, 2) if result else None,
    )
