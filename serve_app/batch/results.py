"""The row of a question, and the rows of a job as Parquet."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from nl2sql.errors import QuorumError
from quorumsql.contract import AnsweredResponse, FailedResponse, QueryResponse, RefusedResponse
from quorumsql.contract.trace import TraceResponse
from serve_app.batch.questions import BatchQuestion
from serve_app.http.problems import describe_error

ERROR = "error"

# ``rows`` holds JSON, because each question has columns of its own.
SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("question", pa.string()),
        ("database", pa.string()),
        ("outcome", pa.string()),
        ("sql", pa.string()),
        ("reason", pa.string()),
        ("error_class", pa.string()),
        ("columns", pa.list_(pa.string())),
        ("rows", pa.string()),
        ("row_count", pa.int64()),
        ("truncated", pa.bool_()),
        ("confidence", pa.float64()),
        ("quorum", pa.bool_()),
        ("samples", pa.int32()),
        ("seconds", pa.float64()),
        ("stages_ms", pa.map_(pa.string(), pa.float64())),
        ("prompt_tokens", pa.int64()),
        ("completion_tokens", pa.int64()),
    ]
)
Row = dict[str, Any]


def build_row(
    question: BatchQuestion, response: QueryResponse, *, seconds: float, kept_rows: int
) -> Row:
    """The row of an answer of any kind; it has at most ``kept_rows`` of the answer's rows."""
    row = {
        **_describe(question, seconds),
        "database": response.database,
        "outcome": response.outcome,
    }
    match response:
        case AnsweredResponse():
            row |= {
                "sql": response.sql,
                "columns": [column.name for column in response.columns],
                "rows": _render_cells(response.rows[:kept_rows]) if kept_rows else None,
                "row_count": len(response.rows),
                "truncated": response.truncated,
                "confidence": response.confidence,
                "quorum": response.quorum,
            }
        case FailedResponse():
            classes = [attempt.error_class for attempt in response.attempts if attempt.error_class]
            row |= {"reason": response.reason, "error_class": next(iter(classes), None)}
        case RefusedResponse():
            row |= {"reason": response.reason, "error_class": response.code}
        case _:
            row |= {"reason": response.reason, "confidence": response.confidence}
    return row | (_describe_trace(response.trace) if response.trace else {})


def build_error_row(question: BatchQuestion, error: Exception, *, seconds: float) -> Row:
    """The row of a question that could not be answered."""
    # An unexpected error may quote rows, so only its kind is kept.
    reason = str(error) if isinstance(error, QuorumError) else describe_error(error)[1]["detail"]
    return {
        **_describe(question, seconds),
        "database": question.database,
        "outcome": ERROR,
        "reason": reason,
        "error_class": type(error).__name__,
    }


def render_rows(rows: Sequence[Row]) -> bytes:
    """The rows as the content of a Parquet file."""
    table = pa.table(
        {
            field.name: pa.array([_clean(row.get(field.name)) for row in rows], field.type)
            for field in SCHEMA
        },
        schema=SCHEMA,
    )
    buffer = pa.BufferOutputStream()
    parquet.write_table(table, buffer)
    content: bytes = buffer.getvalue().to_pybytes()
    return content


def _describe(question: BatchQuestion, seconds: float) -> Row:
    return {"id": question.id, "question": question.question, "seconds": round(seconds, 3)}


def _describe_trace(trace: TraceResponse) -> Row:
    return {
        "samples": trace.samples,
        "stages_ms": [(stage.stage, stage.ms) for stage in trace.stages],
        "prompt_tokens": sum(stage.prompt_tokens for stage in trace.stages),
        "completion_tokens": sum(stage.completion_tokens for stage in trace.stages),
    }


def _render_cells(rows: Sequence[Sequence[Any]]) -> str:
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":"), default=str)


def _clean(value: Any) -> Any:
    """The value without lone surrogates, which Arrow cannot hold."""
    if isinstance(value, str) and not value.isascii():
        return value.encode(errors="replace").decode()
    if isinstance(value, list) and value and isinstance(value[0], str):
        return [_clean(item) for item in value]
    return value
