"""Builds values of ``nl2sql.types`` with defaults that a test overrides by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nl2sql.catalog import Catalog
from nl2sql.types import (
    Assessment,
    Candidate,
    Diagnostic,
    Explained,
    Generated,
    GuardedQuery,
    Principal,
    Prompt,
    Question,
    ResultSet,
    RetrievedTable,
    SchemaContext,
    Score,
    ScoreTerm,
    Violation,
)
from serve_app.settings import Settings, parse_settings
from tests.fakes.shop import SHOP


def build_settings(**overrides: Any) -> Settings:
    """Settings with one embedded database ``shop``; ``overrides`` are whole top-level sections."""
    embedded = {"url": "embedded"}
    databases = {"shop": {"reader": embedded, "indexer": embedded}}
    # On whatever machine: `auto` measures it.
    model = {"name": "qwen2.5-coder-0.5b-instruct"}
    return parse_settings({"databases": databases, "model": model, **overrides})


def build_question(**overrides: Any) -> Question:
    """A question about ``SHOP``, with one candidate."""
    values: dict[str, Any] = {
        "text": "How many orders are there?",
        "database": "shop",
        "principal": Principal("tester"),
        "k": 1,
        "seed": 0,
        "max_rows": 100,
    }
    return Question(**{**values, **overrides})


def build_context(
    catalog: Catalog = SHOP, tables: Sequence[str] = (), **overrides: Any
) -> SchemaContext:
    """A context of the tables named, in that rank; of the whole catalog when none is named."""
    chosen = [table for name in tables if (table := catalog.table(name))] or list(catalog.tables)
    inside = {table.qualified for table in chosen}
    values: dict[str, Any] = {
        "tables": tuple(
            RetrievedTable(table, score=1 / rank, cosine_rank=rank, bm25_rank=rank, cosine=0.5)
            for rank, table in enumerate(chosen, start=1)
        ),
        "foreign_keys": tuple(
            key for key in catalog.foreign_keys if {key.table, key.target} <= inside
        ),
        "names": tuple(catalog.short_names[table.qualified] for table in chosen),
        "version": "v1",
    }
    return SchemaContext(**{**values, **overrides})


def build_candidate(sql: str = "SELECT 1", **overrides: Any) -> Candidate:
    """A candidate ``c1``, sampled once."""
    return Candidate(**{"id": "c1", "sql": sql, **overrides})


def build_guarded(sql: str = "SELECT 1", *tables: str, database: str = "shop") -> GuardedQuery:
    """A guarded query with unchanged text."""
    return GuardedQuery(database=database, sql=sql, tables=tuple(sorted(tables)))


def build_result(*rows: tuple[object, ...], truncated: bool = False) -> ResultSet:
    """A result with columns ``c1``, ``c2`` … as wide as its first row."""
    width = len(rows[0]) if rows else 1
    return ResultSet(
        columns=tuple(f"c{number}" for number in range(1, width + 1)),
        types=("text",) * width,
        rows=rows,
        truncated=truncated,
        ms=1.0,
    )


def build_diagnostic(message: str = "it broke", **overrides: Any) -> Diagnostic:
    """A database error; an undefined column by default."""
    return Diagnostic(**{"sqlstate": "42703", "message": message, **overrides})


def build_violation(code: str = "unknown_table", **overrides: Any) -> Violation:
    """A refusal by the guard."""
    return Violation(**{"code": code, "fragment": "x", "message": "It is refused.", **overrides})


def build_assessment(
    id: str = "c1",  # noqa: A002 - the candidate's field
    *,
    sql: str = "",
    samples: int = 1,
    score: float = 100.0,
    cost: float | None = 10.0,
    **overrides: Any,
) -> Assessment:
    """The assessment of a candidate; guarded and explained, without a result by default.

    ``rows`` gives it a result, ``diagnostic`` or a Violation as ``verdict`` makes it fail.
    """
    sql = sql or f"SELECT '{id}'"
    rows = overrides.pop("rows", None)
    values: dict[str, Any] = {
        "candidate": Candidate(id=id, sql=sql, samples=samples),
        "verdict": build_guarded(sql, "sales.orders"),
        "explained": None if cost is None else Explained(cost=cost, rows=1.0),
        "score": Score((ScoreTerm("base", score),)),
        "result": None if rows is None else build_result(*rows),
    }
    return Assessment(**{**values, **overrides})


def build_generated(*candidates: Candidate, **overrides: Any) -> Generated:
    """What the generator returns, at 100 prompt tokens and 10 completion tokens."""
    values: dict[str, Any] = {
        "prompts": (("standard", Prompt("generate", ())),),
        "candidates": candidates,
        "prompt_tokens": 100,
        "completion_tokens": 10,
        "samples": sum(candidate.samples for candidate in candidates),
    }
    return Generated(**{**values, **overrides})
