"""The questions of a job in one form, whatever they were read from."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

import pyarrow as pa
from pydantic import ValidationError

from nl2sql.errors import InvalidRequest, SettingsError
from nl2sql.settings import Settings
from nl2sql.types import Turn
from quorumsql.contract import QueryRequest
from serve_app.http.openai.conversation import read_question, read_turns
from serve_app.http.openai.requests import ChatRequest
from serve_app.http.openai.responses import DEFAULT_MODEL

_ID_DIGITS = 20


@dataclass(frozen=True, slots=True)
class BatchQuestion:
    """One question of a job.

    ``k`` is None if the job's is used. ``gold`` is the SQL of a right answer, if one is known.
    ``chat`` is the body of a chat completion request as JSON, of which the question is the last
    message; it is empty for questions that come from columns.
    """

    id: str
    question: str
    database: str = ""
    evidence: str = ""
    principal: str = ""
    k: int | None = None
    gold: str = ""
    chat: str = ""


SCHEMA = pa.schema(
    [
        pa.field(field.name, pa.int32() if field.name == "k" else pa.string())
        for field in fields(BatchQuestion)
    ]
)


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of an input that hold each part of a question; empty: the part's own name.

    A column that is named here must be there; all others but the question's may be missing.
    """

    id: str = ""
    question: str = ""
    database: str = ""
    evidence: str = ""
    principal: str = ""
    k: str = ""
    gold: str = ""

    def read(self, row: Mapping[str, Any], where: str) -> BatchQuestion:
        """The question in a row, with an empty id if it has none. Raises SettingsError."""
        values: dict[str, str] = {}
        for field in fields(self):
            named = getattr(self, field.name)
            column = named or field.name
            if column not in row and (named or field.name == "question"):
                raise SettingsError(
                    f"{where} has no column {column!r}.",
                    hint=f"It has {', '.join(map(str, row))}. Name the column with "
                    f"--{field.name}-column.",
                )
            value = row.get(column)
            values[field.name] = "" if value is None else str(value)
        k = values.pop("k")
        return BatchQuestion(**values, k=_read_k(k, where) if k else None)


def _read_k(text: str, where: str) -> int:
    # A column of numbers with gaps arrives as 3.0.
    try:
        number = float(text)
    except ValueError:
        number = 0.5
    if not number.is_integer() or abs(number) >= 2**31:
        raise SettingsError(f"{where}: k is {text!r}, not a whole number.")
    return int(number)


def read_chat_line(line: Mapping[str, Any], where: str) -> BatchQuestion:
    """The question in a line of OpenAI's batch input. Raises SettingsError.

    A body that is not a valid request is not an error here: the question's row says so.
    """
    if not isinstance(line.get("body"), Mapping) or not line.get("custom_id"):
        raise SettingsError(
            f"{where} is not a request of OpenAI's batch form.",
            hint='It is {"custom_id": …, "method": "POST", "url": "/v1/chat/completions", '
            '"body": {…}}.',
        )
    if line.get("url", "/v1/chat/completions") != "/v1/chat/completions":
        raise SettingsError(f"{where} asks {line['url']}; only /v1/chat/completions is answered.")
    body = line["body"]
    messages = body.get("messages")
    last = messages[-1] if isinstance(messages, list) and messages else None
    content = last.get("content") if isinstance(last, Mapping) else None
    return BatchQuestion(
        id=str(line["custom_id"]),
        question=content if isinstance(content, str) else "",
        database=str(body.get("model", "")),
        chat=json.dumps(body, ensure_ascii=False),
    )


def build_request(
    question: BatchQuestion, settings: Settings, *, k: int | None, seed: int | None, max_rows: int
) -> tuple[QueryRequest, tuple[Turn, ...]]:
    """The request for a question, and the turns before it. Raises InvalidRequest."""
    if not question.chat:
        request = QueryRequest(
            question=question.question,
            evidence=question.evidence,
            database=question.database or None,
            k=k if question.k is None else question.k,
            seed=seed,
            max_rows=max_rows,
            trace=True,
        )
        return request, ()
    chat = read_chat(question)
    turns = read_turns(
        chat.messages, most=settings.sessions.turns, longest=settings.limits.question_chars
    )
    request = QueryRequest(
        question=read_question(chat.messages),
        database=None if chat.model == DEFAULT_MODEL else chat.model,
        k=k,
        seed=chat.seed if chat.seed is not None else seed,
        max_rows=max_rows,
        trace=True,
    )
    return request, turns


def read_chat(question: BatchQuestion) -> ChatRequest:
    """The chat completion request of a question. Raises InvalidRequest."""
    try:
        chat = ChatRequest.model_validate_json(question.chat)
    except ValidationError as error:
        problem = error.errors()[0]
        name = ".".join(str(part) for part in problem["loc"]) or "body"
        raise InvalidRequest(f"{name}: {problem['msg']}.", field=name) from error
    chat.check_parameters()
    return chat


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
                hint="Name a column of unique ids with --id-column, or none: then ids are derived.",
            )
        seen.add(name)
        yield _with_id(question, name)


def _hash(question: BatchQuestion) -> str:
    asked = [getattr(question, field.name) for field in fields(question)]
    content = json.dumps(asked, ensure_ascii=False).encode(errors="surrogatepass")
    return f"q{hashlib.sha256(content).hexdigest()[:_ID_DIGITS]}"


def _with_id(question: BatchQuestion, name: str) -> BatchQuestion:
    values = {field.name: getattr(question, field.name) for field in fields(question)}
    return BatchQuestion(**{**values, "id": name})
