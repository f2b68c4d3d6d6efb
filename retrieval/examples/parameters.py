"""Parameters of verified queries: ``:year`` in the query and in its question.

A value is checked against the parameter's type and allowed values, and put in as a literal of the
parsed query: no text of a question is ever read as SQL.

>>> year = Parameter(type="integer", default="2024", min="2022")
>>> pattern = Pattern(("Orders of :year?",), "SELECT 1 FROM o WHERE y = :year", {"year": year})
>>> pattern.ask(), pattern.bind({"year": "2025"}, "postgres")
('Orders of 2024?', 'SELECT 1 FROM o WHERE y = 2025')
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, TypeAdapter, model_validator
from sqlglot import exp

from nl2sql.sql.parsing import parse_one

SLOT = re.compile(r"(?:(?<![:\w])|(?<=\bQ)):([a-z][a-z_]*)")
"""A parameter in a question; ``Q:quarter`` is "Q3".

>>> SLOT.findall("Revenue of :region in Q:quarter, at 10:30?")
['region', 'quarter']
"""

# JSON has numbers; all values are kept as texts in one spelling.
_Value = Annotated[str, BeforeValidator(lambda value: str(value))]


class Parameter(BaseModel):
    """What a parameter may be. A text needs ``values``, or the ``column`` whose values it may have.

    ``column`` is ``schema.table.column``; its values are those of the index. ``min`` and ``max``
    are inclusive. ``default`` stands in the example, and for a phrasing without the parameter.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    type: Literal["integer", "number", "text", "date"]
    default: _Value
    values: tuple[_Value, ...] = ()
    column: str = ""
    min: _Value = ""
    max: _Value = ""

    @model_validator(mode="after")
    def _is_complete(self) -> Parameter:
        if self.type == "text" and not (self.values or self.column):
            raise ValueError("a text needs its allowed values, or their column")
        if self.column and (self.values or self.type != "text"):
            raise ValueError("only a text without values of its own has a column")
        for text in (*self.values, *filter(None, (self.min, self.max))):
            if _read(self.type, text) is None:
                raise ValueError(f"{text!r} is no {self.type}")
        if not self.admits(self.default):
            raise ValueError(f"the default {self.default!r} is not allowed")
        return self

    def admits(self, text: str) -> bool:
        """Whether the text is of the type and allowed; of a column's values it knows nothing."""
        value = _read(self.type, text)
        if value is None or (self.values and text not in self.values):
            return False
        least, most = _read(self.type, self.min), _read(self.type, self.max)
        return (least is None or least <= value) and (most is None or value <= most)  # type: ignore[operator]

    def build_literal(self, text: str, dialect: str) -> exp.Expr:
        """The value as a node of a query. SQLite has no dates but texts."""
        if self.type in ("integer", "number"):
            number = exp.Literal.number(text.lstrip("-"))
            return exp.Neg(this=number) if text.startswith("-") else number
        literal = exp.Literal.string(text)
        is_date = self.type == "date" and dialect != "sqlite"
        return exp.cast(literal, "date") if is_date else literal


_NUMBER = re.compile(r"-?[0-9]{1,18}(\.[0-9]{1,9})?")
_DAY = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")


def _read(type_: str, text: str) -> object | None:
    """The value that a text spells; None if it is none of the type.

    >>> _read("integer", "12"), _read("integer", "1.5"), _read("date", "2024-02-30")
    (Decimal('12'), None, None)
    """
    try:
        match type_:
            case "integer":
                return Decimal(text) if re.fullmatch(r"-?[0-9]{1,18}", text) else None
            case "number":
                return Decimal(text) if _NUMBER.fullmatch(text) else None
            case "date":
                return date.fromisoformat(text) if _DAY.fullmatch(text) else None
            case _:
                return text or None
    except (ValueError, InvalidOperation):
        return None


# Compared by identity, so that what is read from one can be cached.
@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """A verified query whose questions and SQL name its ``parameters``.

    The first of the ``phrasings`` is its question, and names all of them.
    """

    phrasings: tuple[str, ...]
    sql: str
    parameters: Mapping[str, Parameter]

    def ask(self) -> str:
        """The question with the default values."""
        return SLOT.sub(lambda slot: self.parameters[slot[1]].default, self.phrasings[0])

    def list_defaults(self) -> dict[str, str]:
        """The default value of each parameter."""
        return {name: parameter.default for name, parameter in self.parameters.items()}

    def list_columns(self) -> dict[str, str]:
        """Parameter → the column whose values it may have."""
        return {name: each.column for name, each in self.parameters.items() if each.column}

    def bind(self, values: Mapping[str, str], dialect: str) -> str:
        """The query with these values, as it was given if it has none.

        Raises SqlglotError, and KeyError for another parameter.
        """
        if not self.parameters:
            return self.sql
        tree = parse_one(self.sql, dialect)
        for slot in list(tree.find_all(exp.Placeholder)):
            slot.replace(self.parameters[slot.name].build_literal(values[slot.name], dialect))
        return tree.sql(dialect, comments=False)

    def find_error(self, dialect: str) -> str:
        """Why the pattern cannot be used; empty if it can. Raises SqlglotError."""
        tree = parse_one(self.sql, dialect)
        slots = list(tree.find_all(exp.Placeholder))
        # Dialects count elements from 0 or 1, and a literal is read as one that was counted.
        if any(slot.find_ancestor(exp.Bracket) for slot in slots):
            return "A parameter may not be the subscript of an array."
        bound = {slot.name for slot in slots}
        if bound != set(self.parameters):
            odd = ", ".join(sorted(map(repr, bound ^ set(self.parameters))))
            return f"Its query and its parameters do not name the same: {odd}."
        for at, phrasing in enumerate(self.phrasings):
            named = SLOT.findall(phrasing)
            if unknown := sorted(set(named) - bound):
                return f"{phrasing!r} names {unknown[0]!r}, which is no parameter."
            if len(named) != len(set(named)) or (at == 0 and set(named) != bound):
                return f"{phrasing!r} has to name each parameter once."
        return ""


_PATTERN = TypeAdapter(Pattern)


def write_pattern(pattern: Pattern) -> str:
    """The pattern as JSON."""
    return _PATTERN.dump_json(pattern, exclude_defaults=True).decode()


@lru_cache(maxsize=1 << 12)
def read_pattern(text: str) -> Pattern:
    """The pattern that ``write_pattern`` wrote."""
    return _PATTERN.validate_json(text)
