"""Parameters of verified queries: what their values may be, and the literals of these."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator
from sqlglot import exp

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
