"""What several tests of the evaluation build: examples, manifests, records, responses."""

from __future__ import annotations

from typing import Any

from data.benchmarks.types import Example
from evaluation.manifest import Manifest
from evaluation.records import QuestionRecord


def build_example(name: str = "q1", **overrides: Any) -> Example:
    """An example about the shop, whose gold is ``SELECT 1``."""
    values: dict[str, Any] = {
        "id": name,
        "database": "shop",
        "question": f"How many {name}?",
        "golds": ("SELECT 1",),
    }
    return Example(**{**values, **overrides})


def build_manifest(*ids: str, **overrides: Any) -> Manifest:
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
    return Manifest(**{**values, **overrides})


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
    return QuestionRecord(**{**values, **overrides})


def build_body(
    *candidates: dict[str, Any], outcome: str = "answered", **overrides: Any
) -> dict[str, Any]:
    """An answer as ``POST /query`` gives it, with the trace of these candidates."""
    trace = {
        "k": 2,
        "samples": 2,
        "tables": [{"table": "sales.orders"}],
        "candidates": list(candidates),
        "repairs": [],
        "columns": {},
        "left_out": [],
        "stages": [
            {"stage": "plan", "ms": 2.0, "prompt_tokens": 0, "completion_tokens": 0},
            {"stage": "generate", "ms": 9.0, "prompt_tokens": 40, "completion_tokens": 7},
        ],
    }
    body = {"outcome": outcome, "sql": candidates[0]["sql"] if candidates else "", "trace": trace}
    return {**body, **overrides}


def build_candidate(name: str, sql: str, **overrides: Any) -> dict[str, Any]:
    """A candidate of a trace that gave one row."""
    values: dict[str, Any] = {
        "id": name,
        "sql": sql,
        "origin": "sample",
        "repairs": "",
        "samples": 1,
        "logprob": None,
        "votes": 1,
        "group": 0,
        "score": {"total": 100.0},
        "violation": None,
        "error": None,
        "rows": 1,
    }
    return {**values, **overrides}
