"""The schema linker: by rules, or by the language model with three techniques of the literature.

``full`` asks for the columns of all retrieved tables at once, ``tcsl`` first for the tables and
then for their columns, ``scsl`` for a score of each column (Maamari et al., "The Death of Schema
Linking?", 2024). The prompts of the first two begin like the prompt for the query, and those of
``scsl`` differ only in their last line, so that the engine's prefix cache serves their beginnings.

Answers are read tolerantly, as names between all kinds of signs, because small models seldom keep
to a format. Unknown names are dropped.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

from nl2sql.catalog import Column, Table
from nl2sql.concurrency import gather_all
from nl2sql.errors import PromptTooLong, SettingsError
from nl2sql.prompts import render_prompt
from nl2sql.prompts.contents import measure_context, reduce_context
from nl2sql.protocols import Engine
from nl2sql.schema_text import render_schema
from nl2sql.settings import RetrievalSettings
from nl2sql.sql.names import quote_name
from nl2sql.types import (
    Completions,
    Contents,
    Question,
    SamplingRequest,
    SchemaContext,
    SchemaLink,
    SchemaLinks,
)
from retrieval.linking.rules import link_by_rules

PROMPTS = "retrieval.linking.prompts"
_RULES = "deterministic"
_LIST_TOKENS = 320
_SCORE_TOKENS = 4
# Columns scored for one question, those of the best tables first, and concurrent requests.
_MOST_SCORED = 400
_CONCURRENT = 32
_LEAST_SCORE = 0.5
_LONGEST_COMMENT = 120

# A qualified table, a column of it or "", and a score from 0 to 1.
_Named = tuple[str, str, float]


@dataclass(frozen=True, slots=True)
class LinkingResult:
    """The links, and the tokens used."""

    links: SchemaLinks
    prompt_tokens: int = 0
    completion_tokens: int = 0


class SchemaLinker:
    """Links as ``settings.linking`` says; by rules, with a note, if the model names nothing.

    Has no state between questions. ``sends`` is what prompts may hold.
    """

    def __init__(
        self,
        settings: RetrievalSettings,
        engine: Engine | None = None,
        sends: Contents = "schema",
    ) -> None:
        """Raises SettingsError if the technique needs a model and ``engine`` is None."""
        if settings.linking != _RULES and engine is None:
            raise SettingsError(
                f"retrieval.linking is {settings.linking}, which needs a language model, "
                "and none is loaded.",
                hint=f"Set it to {_RULES}.",
            )
        self._technique = settings.linking
        self._engine = engine
        self._sends = sends

    async def link(self, question: Question, context: SchemaContext) -> LinkingResult:
        """Links the question to the retrieved tables. Raises EngineUnavailable."""
        by_rule = link_by_rules(question.search_text, context)
        if self._technique == _RULES or not context.tables:
            return LinkingResult(SchemaLinks(by_rule))
        shown = reduce_context(context, self._sends)
        try:
            if self._technique == "scsl":
                named, answers, note = await self._score_columns(question, shown)
            else:
                named, answers, note = await self._list_names(question, shown)
        except PromptTooLong as error:
            return LinkingResult(SchemaLinks(by_rule, note=error.message))
        links = (
            SchemaLinks(_merge(named, by_rule), self._technique)
            if named
            else SchemaLinks(by_rule, note=note or "The model named nothing")
        )
        return LinkingResult(
            links,
            sum(answer.prompt_tokens for answer in answers),
            sum(answer.completion_tokens for answer in answers),
        )

    async def _list_names(
        self, question: Question, context: SchemaContext
    ) -> tuple[list[_Named], list[Completions], str]:
        """Asks for columns; with ``tcsl`` for tables first, and then only for their columns."""
        answers, tables = [], []
        if self._technique == "tcsl":
            first = await self._ask(question, context, "tables", schema=render_schema(context))
            answers.append(first)
            tables = sorted({table for table, _ in read_names(first.texts[0], context)})
            context = keep_tables(context, tables)
        pairs: dict[tuple[str, str], None] = dict.fromkeys((table, "") for table in tables)
        if context.tables:
            answer = await self._ask(question, context, "columns", schema=render_schema(context))
            answers.append(answer)
            found = read_names(answer.texts[0], context)
            pairs |= dict.fromkeys((table, "") for table, _ in found)
            pairs |= dict.fromkeys(found)
        note = "" if pairs else "The model named nothing that exists"
        return [(table, column, 1.0) for table, column in pairs], answers, note

    async def _score_columns(
        self, question: Question, context: SchemaContext
    ) -> tuple[list[_Named], list[Completions], str]:
        """Asks for a score of each column concurrently; names those with at least 5 of 10."""
        columns = [
            (hit.table, name, column)
            for hit, name in zip(context.tables, context.names, strict=True)
            for column in hit.table.columns
        ][:_MOST_SCORED]
        tables = ", ".join(sorted(context.names))
        slots = asyncio.Semaphore(_CONCURRENT)

        async def score(table: Table, name: str, column: Column) -> Completions:
            async with slots:
                text = render_column(table, name, column, context.dialect)
                return await self._ask(question, context, "score", tables=tables, column=text)

        # The first request fills the prefix cache for the others.
        answers = [await score(*column) for column in columns[:1]]
        answers += await gather_all(score(*column) for column in columns[1:])
        scores = [read_score(answer.texts[0]) for answer in answers]
        unread = scores.count(None)
        if unread * 2 > len(scores):
            return [], answers, f"{unread} of {len(scores)} scores could not be read"
        scored = [
            (table.qualified, column.name, value)
            for (table, _, column), value in zip(columns, scores, strict=True)
            if value is not None and value >= _LEAST_SCORE
        ]
        return sorted(scored, key=itemgetter(2), reverse=True), answers, ""

    async def _ask(
        self, question: Question, context: SchemaContext, name: str, **variables: str
    ) -> Completions:
        assert self._engine is not None
        prompt = render_prompt(
            PROMPTS,
            name,
            dialect=context.dialect,
            contains=measure_context(context),
            question=question.text,
            hint=f"Hint: {question.evidence}" if question.evidence else "",
            **variables,
        )
        is_list = name != "score"
        return await self._engine.sample(
            SamplingRequest(
                prompt=prompt,
                k=1,
                seed=question.seed,
                temperature=0.0,
                max_tokens=_LIST_TOKENS if is_list else _SCORE_TOKENS,
                answer_start="```\n" if is_list else "",
                stop=("```",) if is_list else ("\n",),
            )
        )


def _merge(named: Sequence[_Named], by_rule: tuple[SchemaLink, ...]) -> tuple[SchemaLink, ...]:
    """The model's links, with the phrases that rules found for them.

    Then those by values and definitions.
    """
    phrases = {(link.table, link.column): link.phrase for link in by_rule}
    links = tuple(
        SchemaLink(phrases.get((table, column), ""), table, column, round(score, 3), "model")
        for table, column, score in named
    )
    known = {(link.table, link.column) for link in links}
    sure = (link for link in by_rule if link.method in ("value", "definition"))
    return (*links, *(link for link in sure if (link.table, link.column) not in known))


# -- reading answers and writing columns -------------------------------------------------------

_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s*")
_SEPARATOR = re.compile(r"\s+[-\u2013(:]|[,;:(]")
_QUOTES = str.maketrans("", "", "\"`'[]{}")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_BEST_SCORE = 10.0


def read_names(text: str, context: SchemaContext) -> list[tuple[str, str]]:
    """Pairs of a qualified table and a column of it (empty for the table), each once, in order."""
    names = _SpelledNames(context)
    found: dict[tuple[str, str], None] = {}
    for line in text.splitlines():
        piece = _BULLET.sub("", line).strip()
        resolved = names.resolve(piece)
        if resolved is None:
            parts = (names.resolve(part) for part in _SEPARATOR.split(piece))
            found.update(dict.fromkeys(part for part in parts if part is not None))
        else:
            found[resolved] = None
    return list(found)


def read_score(text: str) -> float | None:
    """The answer as a number from 0 to 1; None if it is not a score.

    >>> [read_score(text) for text in ("8", "Score: 10/10", "Yes.", "no", "I think", "42")]
    [0.8, 1.0, 1.0, 0.0, None, None]
    """
    if number := _NUMBER.search(text):
        score = float(number.group()) / _BEST_SCORE
        return score if score <= 1.0 else None
    word = text.strip().lower()
    if word.startswith("yes"):
        return 1.0
    return 0.0 if word.startswith("no") else None


class _SpelledNames:
    """The names of the retrieved tables and their columns, in the spellings of a model."""

    def __init__(self, context: SchemaContext) -> None:
        self._tables: dict[str, str] = {}
        self._columns: dict[str, dict[str, str]] = {}
        self._owners: dict[str, list[tuple[str, str]]] = {}
        for hit, name in zip(context.tables, context.names, strict=True):
            table = hit.table
            # A bare name that several tables have means the best ranked one.
            for spelling in (table.qualified, name, table.name):
                self._tables.setdefault(_fold(spelling), table.qualified)
            self._columns[table.qualified] = {
                _fold(column.name): column.name for column in table.columns
            }
            for column in table.columns:
                pair = (table.qualified, column.name)
                self._owners.setdefault(_fold(column.name), []).append(pair)

    def resolve(self, text: str) -> tuple[str, str] | None:
        """A table, a qualified column, or a column that only one table has."""
        name = _fold(text)
        if table := self._tables.get(name):
            return table, ""
        for at, sign in enumerate(name):
            if sign == "." and (table := self._tables.get(name[:at].strip())):
                column = self._columns[table].get(name[at + 1 :].strip())
                if column is not None:
                    return table, column
        owners = self._owners.get(name, [])
        return owners[0] if len(owners) == 1 else None


def _fold(name: str) -> str:
    return name.translate(_QUOTES).strip().lower()


def keep_tables(context: SchemaContext, tables: Collection[str]) -> SchemaContext:
    """The context with only these tables (qualified names) and the keys between them."""
    kept = [
        (hit, name)
        for hit, name in zip(context.tables, context.names, strict=True)
        if hit.table.qualified in tables
    ]
    return replace(
        context,
        tables=tuple(hit for hit, _ in kept),
        names=tuple(name for _, name in kept),
        foreign_keys=tuple(
            key for key in context.foreign_keys if key.table in tables and key.target in tables
        ),
    )


def render_column(table: Table, name: str, column: Column, dialect: str) -> str:
    """A column with its type and comments; ``name`` is the table's name in SQL.

    >>> orders = Table("sales", "orders", (Column("total", "money"),), comment="What was bought")
    >>> render_column(orders, "sales.orders", orders.columns[0], "postgres")
    'sales.orders.total money -- What was bought'
    """
    text = f"{name}.{quote_name(column.name, dialect)} {column.type}".rstrip()
    comments = [_shorten(comment) for comment in (column.comment, table.comment) if comment]
    return " -- ".join([text, *comments])


def _shorten(comment: str) -> str:
    text = " ".join(comment.split())
    return text if len(text) <= _LONGEST_COMMENT else text[: _LONGEST_COMMENT - 1] + "…"
