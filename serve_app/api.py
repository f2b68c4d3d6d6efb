"""What crosses HTTP: the request bodies, checked strictly, and the answers as JSON."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from nl2sql.answers import Answer, Answered, Clarify, Failed, Refused, Trace
from nl2sql.types import (
    Assessment,
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
    k: int | None = Field(None, description="How many candidates to sample.")
    seed: int | None = Field(None, ge=0, lt=2**31, description="Seed; a run repeats with it.")
    max_rows: int | None = Field(None, description="Most rows to return.")
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
    body: dict[str, Any] = {
        "outcome": type(answer).__name__.lower(),
        "question": answer.trace.question.text,
        "database": answer.trace.question.database,
    }
    match answer:
        case Answered():
            body["sql"] = answer.sql
            body["confidence"] = answer.confidence
            body["quorum"] = answer.quorum
            body |= _render_result(answer.result)
        case Refused():
            body["code"] = answer.code
            body["reason"] = answer.reason
        case Clarify():
            body["reason"] = answer.reason
            body["confidence"] = answer.confidence
            body["readings"] = list(answer.readings)
        case Failed():
            body["reason"] = answer.reason
    if trace:
        body["trace"] = render_trace(answer.trace)
    return body


def render_trace(trace: Trace) -> dict[str, Any]:
    """Everything that led to the answer, without the candidates' rows."""
    return {
        "k": trace.question.k,
        "seed": trace.question.seed,
        "principal": trace.question.principal.name,
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
        "prompt": [
            {"role": message.role, "content": message.content}
            for message in (trace.prompt.messages if trace.prompt else ())
        ],
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
        "group": each.group,
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
        "findings": [finding.rule for finding in each.findings],
        "score": {"total": each.score.total, "terms": {t.name: t.value for t in each.score.terms}},
        "rows": len(each.result.rows) if each.result else None,
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
