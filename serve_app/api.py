"""What crosses HTTP: the request bodies, checked strictly, and the answers as JSON."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from nl2sql.answers import Answer, Answered, Clarify, Failed, Refused, Trace
from nl2sql.speed import Pace
from nl2sql.types import (
    Assessment,
    Prompt,
    ResultSet,
    Violation,
)
from nl2sql.values import to_json_value


class QueryRequest(BaseModel):
    """The body of ``POST /query``. What is left out comes from the settings."""

    model_config = ConfigDict(extra="forbid", strict=True)

    question: str = Field(description="The question in plain language.")
    evidence: str = Field("", description="What you know besides, such as a definition.")
    database: str | None = Field(None, description="The database it is about.")
    k: int | None = Field(
        None, description="How many candidates to sample; 0: as many as the question needs."
    )
    seed: int | None = Field(None, ge=0, lt=2**31, description="Seed; a run repeats with it.")
    max_rows: int | None = Field(None, description="Most rows to return.")
    picked: str = Field(
        "",
        description="The `sql` of a reading that you were asked to choose: it is guarded and run, "
        "nothing is sampled.",
    )
    session: str | None = Field(
        None,
        description="The conversation that the question belongs to: an id of your own (1 to 64 "
        "letters, digits, dots, dashes, underscores), or `new` for one that the answer brings.",
    )
    answer_text: Literal["off", "rule", "model"] | None = Field(
        None, description="Who puts the answer in words: nobody, a rule, or the model."
    )
    trace: bool = Field(False, description="Add everything that led to the answer.")
    spreadsheet_safe: bool = Field(
        False,
        description="In CSV, an apostrophe before text that a spreadsheet would run as a formula.",
    )


def describe_outcome(answer: Answer) -> dict[str, str]:
    """What kind of answer it is; the ``code`` where it has one."""
    outcome = {"outcome": type(answer).__name__.lower()}
    return {**outcome, "code": answer.code} if isinstance(answer, Refused) else outcome


def render_answer(answer: Answer, *, trace: bool) -> dict[str, Any]:
    """The answer as JSON; ``outcome`` tells its kind."""
    question = answer.trace.question
    body: dict[str, Any] = {
        "outcome": type(answer).__name__.lower(),
        "question": answer.trace.asked or question.text,
        "database": question.database,
    }
    if question.session:
        body["session"] = question.session
    if answer.trace.asked:
        body["rewritten"] = question.text
    if answer.trace.notes:
        body["notes"] = list(answer.trace.notes)
    match answer:
        case Answered():
            body["sql"] = answer.sql
            body["confidence"] = answer.confidence
            body["quorum"] = answer.quorum
            body["text"] = answer.text
            body["text_source"] = answer.text_source
            body |= _render_result(answer.result)
        case Refused():
            body["code"] = answer.code
            body["reason"] = answer.reason
            body["suggestions"] = list(answer.suggestions)
        case Clarify():
            body["reason"] = answer.reason
            body["confidence"] = answer.confidence
            body["readings"] = [
                {"sql": each.sql, "words": each.words, "share": each.share}
                for each in answer.readings
            ]
        case Failed():
            body["reason"] = answer.reason
            body["attempts"] = [
                {"sql": each.sql, "origin": each.origin, "error": each.cause}
                | {"error_class": each.error_class, "suggestion": each.suggestion}
                for each in answer.attempts
            ]
    if trace:
        body["trace"] = render_trace(answer.trace)
    return body


def render_trace(trace: Trace) -> dict[str, Any]:
    """Everything that led to the answer, without the candidates' rows."""
    return {
        "k": trace.question.k,
        "samples": trace.ranking.samples if trace.ranking else 0,
        "wanted": trace.wanted,
        "ended_early": trace.ended_early,
        "pace": render_pace(trace.pace),
        "seed": trace.question.seed,
        "principal": trace.question.principal.name,
        "gate": trace.intent.method,
        "rewriting": trace.rewriting.method,
        "modules": [
            {"module": module, "confidence": confidence}
            for module, confidence in zip(trace.route.modules, trace.route.confidences, strict=True)
        ]
        if trace.route
        else [],
        "tables": [
            {
                "table": hit.table.qualified,
                "via": hit.via,
                "score": hit.score,
                "cosine": round(hit.cosine, 4) if hit.cosine is not None else None,
                "cosine_rank": hit.cosine_rank,
                "bm25_rank": hit.bm25_rank,
            }
            for hit in (trace.context.tables if trace.context else ())
        ],
        "links": [
            {
                "phrase": link.phrase,
                "table": link.table,
                "column": link.column,
                "score": link.score,
                "method": link.method,
            }
            for link in (trace.plan.links.links if trace.plan else ())
        ],
        "linking": {
            "technique": trace.plan.links.technique if trace.plan else "",
            "note": trace.plan.links.note if trace.plan else "",
        },
        "columns": {
            table: list(columns) for table, columns in (trace.plan.columns if trace.plan else ())
        },
        "values": [
            {
                "phrase": match.phrase,
                "table": match.table,
                "column": match.column,
                "value": match.value,
                "score": match.score,
            }
            for match in (trace.context.values if trace.context else ())
        ],
        "glosses": [list(pair) for pair in (trace.context.glosses if trace.context else ())],
        "examples": [
            {"question": each.question, "sql": each.sql, "similarity": each.similarity}
            for each in (trace.context.examples if trace.context else ())
        ],
        "join_skeleton": trace.plan.joins.skeleton if trace.plan else "",
        "join_alternatives": [
            path.skeleton for path in (trace.plan.joins.alternatives if trace.plan else ())
        ],
        "inferred_joins": [
            f"{key.table}({', '.join(key.columns)}) = {key.target}({', '.join(key.target_columns)})"
            for key in (trace.plan.joins.keys if trace.plan else ())
            if key.inferred
        ],
        "sketch": trace.sketch,
        "left_out": list(trace.left_out),
        "prompt": _render_prompt(trace.prompt) if trace.prompt else [],
        "prompts": {variant: _render_prompt(prompt) for variant, prompt in trace.prompts},
        "features": dict(trace.ranking.features) if trace.ranking else {},
        "threshold": trace.ranking.threshold if trace.ranking else 0.0,
        "candidates": [
            _render_assessment(each)
            for each in (trace.ranking.assessments if trace.ranking else ())
        ],
        "repairs": [
            {
                "candidate": repair.candidate,
                "cause": repair.cause,
                "method": repair.method,
                "outcome": repair.outcome,
                "sql": repair.sql,
                "rules": list(repair.rules),
                "error_class": repair.error_class,
                "attempt": repair.attempt,
                "risks": list(repair.risks),
            }
            for repair in trace.repairs
        ],
        "stages": [
            {
                "stage": timing.stage,
                "ms": round(timing.ms, 2),
                "prompt_tokens": timing.prompt_tokens,
                "completion_tokens": timing.completion_tokens,
            }
            for timing in trace.timings
        ],
    }


def render_pace(pace: Pace) -> dict[str, float | None]:
    """How fast the model is (tokens a second; null: unknown) and when sampling ends."""
    speed, timeout_s = pace.speed, pace.sampling_timeout_s
    return {
        "prompt_tokens_per_s": speed.prompt_tokens_per_s if speed else None,
        "answer_tokens_per_s": speed.answer_tokens_per_s if speed else None,
        "sampling_timeout_ms": None if timeout_s is None else round(timeout_s * 1000),
    }


def _render_prompt(prompt: Prompt) -> list[dict[str, str]]:
    return [{"role": message.role, "content": message.content} for message in prompt.messages]


def _render_assessment(each: Assessment) -> dict[str, Any]:
    verdict = each.verdict
    violation = verdict if isinstance(verdict, Violation) else None
    query = None if isinstance(verdict, Violation) else verdict
    return {
        "id": each.candidate.id,
        "sql": each.candidate.sql,
        "origin": each.candidate.origin,
        "repairs": each.candidate.repairs,
        "samples": each.candidate.samples,
        "variant": each.candidate.variant,
        "logprob": each.candidate.logprob,
        "votes": each.votes,
        "weight": each.weight,
        "group": each.group,
        "unrun": each.unrun,
        "guard": "refused" if violation else "passed",
        "violation": {"code": violation.code, "message": violation.message} if violation else None,
        "guarded_sql": query.sql if query else None,
        "predicates": list(query.predicates) if query else [],
        # The planner counts rows that are withheld from a restricted principal.
        "explain": {"cost": each.explained.cost, "rows": each.explained.rows}
        if each.explained and query and not query.restricted
        else None,
        "error": {"sqlstate": each.diagnostic.sqlstate, "message": each.diagnostic.message}
        if each.diagnostic
        else None,
        "findings": [
            {"rule": finding.rule, "severity": finding.severity, "message": finding.message}
            for finding in each.findings
        ],
        "score": {"total": each.score.total, "terms": {t.name: t.value for t in each.score.terms}},
        "rows": len(each.result.rows) if each.result else None,
        "truncated": bool(each.result and each.result.truncated),
        "ms": round(each.result.ms, 2) if each.result else None,
    }


def _render_result(result: ResultSet) -> dict[str, Any]:
    return {
        "columns": [
            {"name": name, "type": kind}
            for name, kind in zip(result.columns, result.types, strict=True)
        ],
        "rows": [[to_json_value(value) for value in row] for row in result.rows],
        "truncated": result.truncated,
        "cut": [list(cell) for cell in result.cut],
    }
