"""Limits on queries, results and requests: the section ``limits``."""

from __future__ import annotations

from pydantic import Field

from nl2sql.settings.section import Milliseconds, Section


class LimitSettings(Section):
    """Limits of one request."""

    body_bytes: int = Field(
        2**20,
        ge=1024,
        le=2**24,
        description="Largest request body. A chat's holds the whole conversation: up to 20 kB for "
        "each table of rows that was shown.",
    )
    rows: int = Field(100, ge=1, le=10_000, description="Rows if the request has no max_rows.")
    max_rows: int = Field(1000, ge=1, le=100_000, description="Most rows a request may ask for.")
    statement_timeout_ms: Milliseconds = Field(
        10_000, description="Time limit of one execution, or one EXPLAIN."
    )
    sampling_timeout_ms: int = Field(
        60_000,
        ge=0,
        lt=2**31,
        description="Time limit from a question's start to the end of sampling: the candidates "
        "finished by then are voted on, or the first that finishes. 0: no limit.",
    )
    request_timeout_ms: int = Field(
        1_800_000,
        ge=1,
        lt=2**31,
        description="Time limit of a whole request, against hanging ones. To bound the time on a "
        "slow machine, set sampling_timeout_ms instead.",
    )
    pool_size: int = Field(
        8,
        ge=1,
        le=100,
        description="Statements at a time for each database, each with a connection or a thread of "
        "its own. One principal gets at most three quarters of them; on a database that computes "
        "on this machine at most as many as occupy half of the processors.",
    )
    cell_bytes: int = Field(
        65_536,
        ge=1024,
        le=2**24,
        description="Longest cell. Longer text and bytes are cut, other values withheld; the "
        "answer lists these cells.",
    )
    result_bytes: int = Field(
        64 * 2**20,
        ge=2**20,
        le=2**30,
        description="Size of all cells of a result; further rows are left out.",
    )
    file_memory_mib: int = Field(
        1024,
        ge=64,
        le=2**24,
        description="Memory for all statements on one DuckDB file, or on all SQLite files of a "
        "process, in MiB. Nothing is written to disk instead.",
    )
    max_estimated_rows: int = Field(
        50_000_000,
        ge=1000,
        description="A query is not run if PostgreSQL expects more rows than this in one step of "
        "its plan, or DuckDB more pairs of rows in a join. For the default, PostgreSQL takes 2 to "
        "6 s in one simple step, DuckDB 0.1 to 3 s.",
    )
