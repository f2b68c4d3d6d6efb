"""What the tests of measuring retrieval build: manifests, records and findings about the shop."""

from __future__ import annotations

from typing import Any

from evaluation.retrieval.records import (
    RetrievalManifest,
    RetrievalRecord,
    SearchFinding,
    ShownTable,
)


def build_manifest(*ids: str, **overrides: Any) -> RetrievalManifest:
    """A manifest of the variant ``full``."""
    values: dict[str, Any] = {
        "benchmark": "shop",
        "benchmark_path": "shop.jsonl",
        "benchmark_sha256": "0" * 64,
        "dialect": "postgres",
        "question_ids": ids,
        "versions": {"python": "3"},
        "machine": {"cores": "2"},
        "variants": ("full",),
        "configurations": {"full": {}},
        "embedder": "fake",
    }
    return RetrievalManifest(**{**values, **overrides})


def build_finding(*shown: str, missed: tuple[str, ...] = (), **overrides: Any) -> SearchFinding:
    """What found these tables."""
    values: dict[str, Any] = {
        "tables": tuple(ShownTable(table=name, via="hit") for name in shown),
        "missed_tables": missed,
        "columns": 3 * len(shown),
        "tokens": 20 * len(shown),
        "stages_ms": {"route and retrieve": 2.0, "link and plan": 1.0},
    }
    return SearchFinding(**{**values, **overrides})


def build_record(name: str, finding: SearchFinding, **overrides: Any) -> RetrievalRecord:
    """A question whose gold reads two columns of ``s.orders`` and one of ``s.lines``."""
    values: dict[str, Any] = {
        "id": name,
        "database": "shop",
        "question": "How many?",
        "gold": "SELECT 1",
        "gold_tables": ("s.lines", "s.orders"),
        "gold_columns": ("s.lines.price", "s.orders.id", "s.orders.total"),
        "embed_ms": 5.0,
        "findings": {"full": finding},
    }
    return RetrievalRecord(**{**values, **overrides})
