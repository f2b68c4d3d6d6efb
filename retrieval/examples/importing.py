"""Stores pairs as examples, and embeds examples again whose vectors are outdated.

New pairs are verified batch by batch, and known ones skipped. A batch is stored before the next one
starts, so a run that was killed continues where it stopped.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from sqlglot.errors import SqlglotError

from nl2sql.concurrency import gather_all
from nl2sql.errors import SettingsError
from nl2sql.sql.normal_form import normal_form
from nl2sql.sql.parsing import describe_parse_error
from nl2sql.types import Principal
from retrieval.embedding.embedder import Embedder
from retrieval.examples.parameters import Parameter, Pattern, write_pattern
from retrieval.examples.records import (
    MOST_CHARS,
    Rejected,
    Verifier,
    build_example,
    identify_example,
    mask_example,
    name_vectors,
    strip_sql,
)
from retrieval.index_store.example_store import (
    ExampleStore,
    StoredState,
    VerifiedExample,
    fold_question,
)
from retrieval.index_store.store import IndexStore

_BATCH = 64
# Concurrent EXPLAINs: fewer than the default number of connections of any pool.
_CONCURRENT = 4

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class RejectedPair:
    """A pair that was rejected; ``number`` counts pairs from 1."""

    number: int
    question: str
    reason: str


@dataclass(frozen=True, slots=True)
class ImportReport:
    """The result of a run: the numbers of new and of known pairs, and the rejected pairs."""

    stored: int
    known: int
    left_out: tuple[RejectedPair, ...]


async def import_pairs(
    database: str,
    pairs: Sequence[Pair],
    principal: Principal,
    *,
    dialect: str,
    store: ExampleStore,
    verifier: Verifier,
    embedder: Embedder,
    progress: Progress = lambda done, total: None,
) -> ImportReport:
    """Stores the pairs whose query ``principal`` may run; ``progress(done, total)`` counts pairs.

    A pair replaces an earlier file's with the same question and roles; the last of a file counts.
    Raises IndexUnavailable, DatabaseUnavailable, PolicyError, SettingsError for the embedder.
    """
    name = name_vectors(embedder.name)
    present = await store.list_embedded(database)
    latest = {pair.key: pair for pair in pairs}
    stored = known = 0
    left_out: list[RejectedPair] = []
    slots = asyncio.Semaphore(_CONCURRENT)

    async def verify(pair: Pair, question: str, sql: str) -> VerifiedExample | Rejected:
        async with slots:
            columns = pair.build_pattern().list_columns().values()
            verified = await verifier.verify(database, sql, principal, columns)
        if isinstance(verified, Rejected):
            return verified
        day = pair.verified_at
        return build_example(
            database,
            question,
            verified.sql,
            verified.tables,
            dialect=dialect,
            source="file",
            given_by=pair.verified_by or principal.name,
            roles=pair.roles,
            created_at=datetime.combine(day, time.min, UTC) if day else None,
            title=pair.title,
            pattern=pair.write_pattern(),
        )

    for start in range(0, len(pairs), _BATCH):
        fresh: dict[str, tuple[int, tuple[Pair, str, str]]] = {}
        for number, pair in enumerate(pairs[start : start + _BATCH], start=start + 1):
            try:
                if pair != latest[pair.key]:
                    raise ValueError("A later pair has the same question and roles.")
                question, sql = pair.fill(dialect)
            except ValueError as error:
                left_out.append(RejectedPair(number, pair.question, str(error)))
                continue
            id_ = identify_example(database, question, normal_form(sql, dialect), access="")
            state = StoredState(name, tuple(sorted(pair.key[1])), pair.title, pair.write_pattern())
            if id_ in fresh or present.get(id_) == state:
                known += 1
            else:
                fresh[id_] = number, (pair, question, sql)
                present[id_] = state
        outcomes = await gather_all(verify(*filled) for _, filled in fresh.values())
        examples = []
        for (number, (pair, *_)), outcome in zip(fresh.values(), outcomes, strict=True):
            if isinstance(outcome, Rejected):
                left_out.append(RejectedPair(number, pair.question, outcome.reason))
            else:
                examples.append(outcome)
        if examples:
            vectors = await asyncio.to_thread(
                embedder.embed, [example.masked for example in examples]
            )
            # Before: what a killed run left out, the next one brings.
            await store.remove_replaced(examples)
            await store.put(examples, vectors, name)
            stored += len(examples)
        progress(min(start + _BATCH, len(pairs)), len(pairs))
    return ImportReport(stored, known, tuple(sorted(left_out, key=lambda each: each.number)))


async def refresh_examples(
    database: str,
    dialect: str,
    store: IndexStore,
    embedder: Embedder,
    *,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> int:
    """Returns the number of examples embedded; 0, without loading the model, if none is outdated.

    Stored batch by batch, so that a killed run keeps its finished batches. Raises IndexUnavailable,
    and SettingsError if the embedder cannot be loaded.
    """
    examples = ExampleStore(store)
    name = name_vectors(embedder.name)
    embedders = await examples.list_embedded(database)
    if all(state.embedder == name for state in embedders.values()):
        return 0
    stale = [
        replace(example, masked=mask_example(example.question, example.sql, dialect))
        for example in await examples.list_examples(database)
        if example.id not in embedders or embedders[example.id].embedder != name
    ]
    for start in range(0, len(stale), _BATCH):
        batch = stale[start : start + _BATCH]
        vectors = await asyncio.to_thread(embedder.embed, [example.masked for example in batch])
        await examples.put(batch, vectors, name)
        progress(start + len(batch), len(stale))
    return len(stale)


_HINT = (
    'Each line is {"question": …, "sql": …}, with "roles": […] if only some may see it, and '
    '"title", "phrasings", "parameters", "verified_by" and "verified_at" of a verified query.'
)


class Pair(BaseModel):
    """A line of the file: a question and its query, which may have parameters (``:year``).

    ``phrasings`` are other forms of the question. A question that means one of them is answered by
    the query if it has ``parameters`` or phrasings.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    question: str = Field(min_length=1, max_length=MOST_CHARS)
    sql: str = Field(min_length=1, max_length=MOST_CHARS)
    roles: tuple[str, ...] = ()
    title: str = Field("", max_length=200)
    phrasings: tuple[Annotated[str, Field(min_length=1, max_length=MOST_CHARS)], ...] = ()
    parameters: dict[str, Parameter] = {}
    verified_by: str = Field("", max_length=200)
    verified_at: date | None = None

    @model_validator(mode="after")
    def _can_be_stored(self) -> Pair:
        if "\0" in "".join((self.question, self.sql, self.title, *self.phrasings)):
            raise ValueError("it holds a null character")
        # The day is that of the file's author, who may be a day ahead.
        if self.verified_at and self.verified_at > datetime.now(UTC).date() + timedelta(days=1):
            raise ValueError("verified_at is in the future")
        return self

    @property
    def key(self) -> tuple[str, frozenset[str]]:
        """Equal for the same question for the same roles."""
        return fold_question(self.question), frozenset(self.roles)

    def build_pattern(self) -> Pattern:
        """The query with its parameters."""
        return Pattern((self.question, *self.phrasings), self.sql, self.parameters)

    def write_pattern(self) -> str:
        """The pattern as JSON; empty without parameters and phrasings."""
        is_plain = not (self.parameters or self.phrasings)
        return "" if is_plain else write_pattern(self.build_pattern())

    def fill(self, dialect: str) -> tuple[str, str]:
        """Question and query with the default values. Raises ValueError that says what is wrong."""
        pattern = self.build_pattern()
        try:
            if self.write_pattern() and (error := pattern.find_error(dialect)):
                raise ValueError(error)
            if not self.parameters:
                return self.question, strip_sql(self.sql, dialect)
            return pattern.ask(), pattern.bind(pattern.list_defaults(), dialect)
        except SqlglotError as broken:
            reason = f"It is not valid SQL: {describe_parse_error(broken)}"
            raise ValueError(reason) from broken


def read_pairs(path: Path) -> tuple[Pair, ...]:
    """All lines of a file. Raises SettingsError that names the line and the field."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read: {error}.") from error
    # Not splitlines(): it also splits at U+2028, which JSON allows inside a string.
    lines = enumerate(text.split("\n"), start=1)
    return tuple(_read_line(path, number, line) for number, line in lines if line.strip())


def _read_line(path: Path, number: int, line: str) -> Pair:
    try:
        return Pair.model_validate(json.loads(line))
    except ValidationError as error:
        problem = error.errors()[0]
        field = ".".join(map(str, problem["loc"])) or "the line"
        text = f"{field}: {problem['msg'].removeprefix('Value error, ')}"
    except ValueError as error:
        text = f"is not JSON: {error}"
    raise SettingsError(f"{path}, line {number}: {text}.", hint=_HINT)
