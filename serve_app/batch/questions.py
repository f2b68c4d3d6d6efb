"""The questions of a job in one form, whatever they were read from."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import pyarrow as pa

from nl2sql.errors import SettingsError
from quorumsql.contract import QueryRequest

_ID_DIGITS = 20


@dataclass(frozen=True, slots=True)
class BatchQuestion:
    """One question of a job; ``k`` is None if the job's is used."""

    id: str
    question: str
    database: str = ""
    evidence: str = ""
    principal: str = ""
    k: int | None = None


SCHEMA = pa.schema(
    [
        pa.field(field.name, pa.int32() if field.name == "k" else pa.string())
        for field in fields(BatchQuestion)
    ]
)


def read_question(row: Mapping[str, Any], where: str) -> BatchQuestion:
    """The question in a row, with an empty id if it has none. Raises SettingsError."""
    if "question" not in row:
        raise SettingsError(
            f"{where} has no column 'question'.",
            hint=f"It has {', '.join(map(str, row))}. Read are {', '.join(SCHEMA.names)}.",
        )
    values = {
        name: "" if row.get(name) is None else str(row[name])
        for name in SCHEMA.names
        if name != "k"
    }
    k = row.get("k")
    return BatchQuestion(**values, k=None if k in (None, "") else _read_k(str(k), where))


def _read_k(text: str, where: str) -> int:
    # A column of numbers with gaps arrives as 3.0.
    try:
        number = float(text)
    except ValueError:
        number = 0.5
    if not number.is_integer() or abs(number) >= 2**31:
        raise SettingsError(f"{where}: k is {text!r}, not a whole number.")
    return int(number)


def build_request(
    question: BatchQuestion, *, k: int | None, seed: int | None, max_rows: int
) -> QueryRequest:
    """The request for a question. Raises InvalidRequest."""
    return QueryRequest(
        question=question.question,
        evidence=question.evidence,
        database=question.database or None,
        k=k if question.k is None else question.k,
        seed=seed,
        max_rows=max_rows,
        trace=True,
    )


def complete_ids(questions: Iterable[BatchQuestion]) -> Iterator[BatchQuestion]:
    """Derives the ids that are missing, and checks that all are unique. Raises SettingsError.

    A derived id is a hash of what is asked, and the number of earlier questions that are the same.
    It does not depend on the place in the input.
    """
    seen: set[str] = set()
    same: Counter[str] = Counter()
    for question in questions:
        name = question.id
        if not name:
            digest = _hash(question)
            name = f"{digest}-{same[digest]}" if same[digest] else digest
            same[digest] += 1
        if name in seen:
            raise SettingsError(
                f"The id {name!r} occurs twice.",
                hint="Ids are unique; without a column `id` they are derived.",
            )
        seen.add(name)
        yield replace(question, id=name)


def _hash(question: BatchQuestion) -> str:
    asked = [getattr(question, field.name) for field in fields(question)]
    content = json.dumps(asked, ensure_ascii=False).encode(errors="surrogatepass")
    return f"q{hashlib.sha256(content).hexdigest()[:_ID_DIGITS]}"
