"""Limits on queries, results and requests: the section ``limits``."""

from __future__ import annotations

from pydantic import Field

from nl2sql.settings.database import Milliseconds
from nl2sql.settings.section import Section


class LimitSettings(Section):
    """What one request may cost."""

    question_chars: int = Field(4000, ge=1, description="Longest question, in characters.")
    body_bytes: int = Field(65_536, ge=1024, le=2**18, description="Largest request body.")
    body_timeout_ms: Milliseconds = Field(
        10_000, description="From a request's headers to the end of its body."
    )
    rows: int = Field(100, ge=1, le=10_000, description="Rows when the request names no max_rows.")
    max_rows: int = Field(1000, ge=1, le=100_000, description="Most rows a request may ask for.")
    statement_timeout_ms: Milliseconds = Field(10_000, description="One execution.")
    explain_timeout_ms: Milliseconds = Field(2000, description="One EXPLAIN.")
    sampling_timeout_ms: int | None = Field(
        None,
        ge=0,
        lt=2**31,
        description="From a question's start to the end of sampling: what is finished by then is "
        "voted on, or else the first that is. 0: sampling always ends whole; unset: twice what a "
        "long question takes at the engine's measured speed, from 20 to 120 seconds.",
    )
    request_timeout_ms: int = Field(
        1_800_000,
        ge=1,
        lt=2**31,
        description="One request, all in all: against what hangs. A slow machine is no reason to "
        "set it low; that is what sampling_timeout_ms is for.",
    )
    pool_size: int = Field(8, ge=1, le=100, description="Connections a database.")
    cell_bytes: int = Field(
        65_536,
        ge=1024,
        le=2**24,
        description="Longest cell. Text and bytes are cut there, other values withheld, and told.",
    )
    result_bytes: int = Field(
        64 * 2**20, ge=2**20, le=2**30, description="All cells of a result; rows beyond are left."
    )
    duckdb_memory_mib: int = Field(
        1024,
        ge=64,
        le=2**24,
        description="Memory of all statements together on one DuckDB file, in MiB.",
    )
    work_mem_mib: int = Field(32, ge=1, le=2**20, description="PostgreSQL's work_mem, in MiB.")
    max_estimated_rows: int = Field(
        50_000_000,
        ge=1000,
        description="A query is not run when PostgreSQL expects more rows than this in one step "
        "of its plan, or DuckDB more pairs of rows in a join. For as many, PostgreSQL takes 2 to "
        "6 s in one simple step, DuckDB 0.1 to 3 s.",
    )
