"""Pairs of a question and its query, which may have parameters: ``:year`` in both.

A file has one in each line. No text of a question is ever read as SQL: values are put in as
literals of the parsed query.

>>> year = Parameter(type="integer", default="2024", min="2022")
>>> pair = Pair(question="Of :year?", sql="SELECT 1 WHERE y = :year", parameters={"year": year})
>>> pair.ask(), pair.bind({"year": "2025"}, "postgres")
('Of 2024?', 'SELECT 1 WHERE y = 2025')
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from sqlglot import exp

from nl2sql.errors import SettingsError
from nl2sql.sql.parsing import parse_one
from retrieval.examples.parameters import SLOT, Parameter
from retrieval.examples.records import MOST_CHARS
from retrieval.index_store.example_store import fold_question

_HINT = (
    'Each line is {"question": …, "sql": …}, with "roles": […] if only some may see it, and '
    '"title", "phrasings", "parameters", "verified_by" and "verified_at" of a verified query.'
)


class Pair(BaseModel):
    """A question and its query. The question names all ``parameters``.

    ``phrasings`` are other forms of the question. A question that means one of them is answered by
    the query if it has parameters or phrasings.
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

    @property
    def texts(self) -> frozenset[str]:
        """The names of the parameters that are texts."""
        return frozenset(name for name, each in self.parameters.items() if each.type == "text")

    @property
    def columns(self) -> dict[str, str]:
        """Parameter → the column whose values it may have."""
        return {name: each.column for name, each in self.parameters.items() if each.column}

    @property
    def defaults(self) -> dict[str, str]:
        """The default value of each parameter."""
        return {name: parameter.default for name, parameter in self.parameters.items()}

    def write_pattern(self) -> str:
        """As JSON for ``read_pattern``; empty without parameters and phrasings."""
        is_plain = not (self.parameters or self.phrasings)
        return "" if is_plain else self.model_dump_json(exclude_defaults=True)

    def ask(self) -> str:
        """The question with the default values."""
        if not self.parameters:
            return self.question
        return SLOT.sub(lambda slot: self.parameters[slot[1]].default, self.question)

    def bind(self, values: Mapping[str, str], dialect: str) -> str:
        """The query with these values, as it was given if it has none.

        Raises SqlglotError, RecursionError, and KeyError for another parameter.
        """
        if not self.parameters:
            return self.sql
        tree = parse_one(self.sql, dialect)
        for slot in list(tree.find_all(exp.Placeholder)):
            slot.replace(self.parameters[slot.name].build_literal(values[slot.name], dialect))
        return tree.sql(dialect, comments=False)

    def find_error(self, dialect: str) -> str:
        """Why parameters and phrasings cannot be used; empty if they can. Raises SqlglotError."""
        if not (self.parameters or self.phrasings):
            return ""
        slots = list(parse_one(self.sql, dialect).find_all(exp.Placeholder))
        # Dialects count elements from 0 or 1, and a literal is read as one that was counted.
        if any(slot.find_ancestor(exp.Bracket) for slot in slots):
            return "A parameter may not be the subscript of an array."
        bound = {slot.name for slot in slots}
        if bound != set(self.parameters):
            odd = ", ".join(sorted(map(repr, bound ^ set(self.parameters))))
            return f"Its query and its parameters do not name the same: {odd}."
        for phrasing in (self.question, *self.phrasings):
            named = SLOT.findall(phrasing)
            if unknown := sorted(set(named) - bound):
                return f"{phrasing!r} names {unknown[0]!r}, which is no parameter."
            is_short = phrasing is self.question and set(named) != bound
            if is_short or len(named) != len(set(named)):
                return f"{phrasing!r} has to name each parameter once."
        return ""


@lru_cache(maxsize=1 << 12)
def read_pattern(text: str) -> Pair:
    """The pair that ``write_pattern`` wrote. Raises ValueError for any other text."""
    return Pair.model_validate_json(text)


@lru_cache(maxsize=1 << 12)
def compile_query(text: str, dialect: str) -> re.Pattern[str]:
    """Matches what ``bind`` writes of a pattern with whatever values.

    Raises ValueError, SqlglotError, RecursionError.

    >>> year = Parameter(type="integer", default="2024")
    >>> pair = Pair(question=":year?", sql="SELECT :year", parameters={"year": year})
    >>> query = compile_query(pair.write_pattern(), "postgres")
    >>> [bool(query.fullmatch(sql)) for sql in ("SELECT 2025", "SELECT 2025 AND 1", "x")]
    [True, False, False]
    """
    pair = read_pattern(text)
    tree = parse_one(pair.sql, dialect)
    for slot in list(tree.find_all(exp.Placeholder)):
        slot.replace(exp.var(f":{slot.name}:"))
    pattern = re.escape(tree.sql(dialect, comments=False) if pair.parameters else pair.sql)
    for name, each in pair.parameters.items():
        literal = re.escape(each.build_literal("0", dialect).sql(dialect))
        value = literal.replace("0", "(?:[^']|'')*" if "'" in literal else r"-?\d[\d.]*")
        pattern = pattern.replace(re.escape(f":{name}:"), value)
    return re.compile(pattern)


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
