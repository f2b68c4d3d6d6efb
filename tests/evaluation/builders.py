"""What several tests of the evaluation build: examples, manifests, records, responses."""

from __future__ import annotations

from typing import Any

from data.benchmarks.types import Example
from evaluation.runs.manifest import RunManifest
from evaluation.runs.records import QuestionRecord
from nl2sql.answers import Trace
from nl2sql.types import Ranking
from quorumsql.contract import QueryResponse, read_response
from quorumsql.contract.trace import CandidateResponse
from serve_app.service.rendering import build_trace
from tests.fakes import build_assessment, build_question, build_result


def build_example(name: str = "q1", **overrides: Any) -> Example:
    """An example about the shop, whose gold is ``SELECT 1``."""
    values: dict[str, Any] = {
        "id": name,
        "database": "shop",
        "question": f"How many {name}?",
        "golds": ("SELECT 1",),
    }
    return Example(**{**values, **overrides})


def build_manifest(*ids: str, **overrides: Any) -> RunManifest:
    """A manifest over these questions."""
    values: dict[str, Any] = {
        "benchmark": "shop",
        "benchmark_path": "shop.jsonl",
        "benchmark_sha256": "0" * 64,
        "dialect": "postgres",
        "variant": "K=1",
        "k": 1,
        "seed": 0,
        "configuration": {"ranking": {"min_confidence": 0.0}},
        "question_ids": ids,
        "versions": {"python": "3"},
        "machine": {"cores": "2"},
    }
    return RunManifest(**{**values, **overrides})


def build_record(name: str = "q1", **overrides: Any) -> QuestionRecord:
    """A record of an answer that was right."""
    values: dict[str, Any] = {
        "id": name,
        "database": "shop",
        "question": f"How many {name}?",
        "gold": "SELECT 1",
        "outcome": "answered",
        "sql": "SELECT 1",
        "correct": True,
    }
    values |= overrides
    return QuestionRecord(**{"accepted": values["correct"], **values})


def build_body(
    *candidates: CandidateResponse, outcome: str = "answered", reason: str = "", **trace: Any
) -> QueryResponse:
    """An answer with these candidates; ``trace`` is what stands in its trace besides."""
    told = build_trace(Trace(build_question(k=2))).model_dump() | {
        "samples": 2,
        "candidates": candidates,
        "stages": [
            {"stage": "plan", "ms": 2.0, "prompt_tokens": 0, "completion_tokens": 0},
            {"stage": "generate", "ms": 9.0, "prompt_tokens": 40, "completion_tokens": 7},
        ],
    }
    body: dict[str, Any] = {
        "outcome": outcome,
        "question": "How many?",
        "database": "shop",
        "reason": reason,
    }
    body |= {"sql": candidates[0].sql if candidates else "", "trace": told | trace}
    return read_response(REST | body)


def build_candidate(name: str, sql: str, **overrides: Any) -> CandidateResponse:
    """A candidate of a trace that gave one row."""
    assessment = build_assessment(name, sql=sql, result=build_result((1,)))
    trace = build_trace(Trace(build_question(), ranking=Ranking((assessment,))))
    values = {"votes": 1, "score": {"total": 100.0, "terms": {}, "strengths": {}}, **overrides}
    return CandidateResponse.model_validate(trace.candidates[0].model_dump() | values)


# What a kind of answer has besides, for any of the kinds.
REST: dict[str, Any] = {"confidence": 0.0, "quorum": False, "text": "", "text_source": ""}
REST |= {"columns": [], "rows": [], "truncated": False, "cut": []}
REST |= {"code": "", "interpretations": []}
