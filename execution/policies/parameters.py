"""Binds the values of a principal as parameters of a query; they are never pasted into its text.

In the text of a wrapper an attribute is a *slot*. No query can contain a slot: it consists of
control characters, and is filled before the wrapper is put into the query.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation

from psycopg.adapt import PyFormat, Transformer

from execution.name_resolution.scopes import Unresolved
from execution.policies.policy_file import Attribute
from nl2sql.types import NOT_PERMITTED, AttributeValue, Scalar

Bound = Scalar | Decimal | dt.date | dt.datetime
BoundValue = Bound | tuple[Bound, ...]


_SLOT = re.compile("\x02([^\x03]*)\x03")

_POSTGRES_TYPES = {
    "boolean": "boolean",
    "date": "date",
    "integer": "bigint",
    "numeric": "numeric",
    "text": "text",
    "timestamp": "timestamp",
}
_MOST_VALUES = 1000


def render_slot(attribute: str) -> str:
    """The slot for the attribute's value, which ``Parameters.fill`` replaces."""
    return f"\x02{attribute}\x03"


def name_slots(text: str) -> str:
    """The text for people, with ``:name`` for each slot."""
    return _SLOT.sub(r":\1", text)


def name_setting(attribute: str) -> str:
    """The setting of a database session that holds the attribute for row-level security."""
    return f"quorumsql.{attribute}"


def fill_from_settings(text: str, attributes: Mapping[str, Attribute]) -> str:
    """``text`` with the session's setting in each slot, which PostgreSQL reads once a query.

    A setting that is missing or empty is NULL.
    """

    def render(match: re.Match[str]) -> str:
        base = attributes[match[1]].type.removesuffix("[]")
        kind = _POSTGRES_TYPES[base] + attributes[match[1]].type.removeprefix(base)
        setting = name_setting(match[1]).replace("'", "''")
        return f"CAST((SELECT NULLIF(current_setting('{setting}', true), '')) AS {kind})"

    return _SLOT.sub(render, text)


class Parameters:
    """The placeholders of one query, numbered in the order of their first use."""

    def __init__(
        self,
        values: Mapping[str, BoundValue],
        attributes: Mapping[str, Attribute],
        dialect: str,
    ) -> None:
        self._values = values
        self._attributes = attributes
        self._dialect = dialect
        self._numbers: dict[str, tuple[int, ...]] = {}
        self.params: list[object] = []

    def fill(self, text: str) -> str:
        """``text`` with a placeholder in each slot.

        Raises Unresolved for a value that the principal does not have.
        """
        return _SLOT.sub(lambda match: self._render(match[1]), text)

    def _render(self, name: str) -> str:
        if name not in self._numbers:
            if name not in self._values:
                raise Unresolved(
                    NOT_PERMITTED,
                    name,
                    f"Your rows depend on the attribute {name}, which you lack.",
                )
            self._numbers[name] = self._bind(self._values[name])
        numbers = self._numbers[name]
        kind = self._attributes[name].type
        if self._dialect == "sqlite":
            # SQLite accepts an empty list.
            return ", ".join(f"?{number}" for number in numbers)
        base = kind.removesuffix("[]")
        if self._dialect == "duckdb":
            if kind == "numeric":
                return f"${numbers[0]}"
            element = {"integer": "bigint", "numeric": "double"}.get(base, base)
        else:
            element = _POSTGRES_TYPES[base]
        return f"CAST(${numbers[0]} AS {element}{kind.removeprefix(base)})"

    def _bind(self, value: BoundValue) -> tuple[int, ...]:
        if self._dialect == "sqlite":
            values = value if isinstance(value, tuple) else (value,)
            self.params += [_to_sqlite(value) for value in values]
            return tuple(range(len(self.params) - len(values) + 1, len(self.params) + 1))
        self.params.append(value)
        return (len(self.params),)


def convert_value(name: str, value: AttributeValue, attribute: Attribute) -> BoundValue:
    """Converts a principal's value to its attribute's type. Raises ValueError if it does not fit.

    >>> convert_value("regions", ("1", 2), Attribute(type="integer[]"))
    (1, 2)
    """
    kind = attribute.type
    if kind.endswith("[]"):
        values = value if isinstance(value, tuple) else (value,)
        if len(values) > _MOST_VALUES:
            raise ValueError(f"The attribute {name} has more than {_MOST_VALUES} values.")
        return tuple(_convert(name, value, kind.removesuffix("[]")) for value in values)
    if isinstance(value, tuple):
        raise ValueError(f"The attribute {name} is one {kind}, not a list.")
    return _convert(name, value, kind)


def render_setting(value: BoundValue) -> str:
    """The value in PostgreSQL's text format for a setting; a list is an array in braces.

    >>> render_setting((1, 2)), render_setting(("a b", 'c"d')), render_setting(True)
    ('{1,2}', '{"a b","c\\\\"d"}', 't')
    """
    dumped = list(value) if isinstance(value, tuple) else value
    return bytes(Transformer().get_dumper(dumped, PyFormat.TEXT).dump(dumped) or b"").decode()


def _convert(name: str, value: Scalar, kind: str) -> Bound:
    try:
        match kind:
            case "boolean" if isinstance(value, bool):
                return value
            case "boolean" if str(value).lower() in ("true", "false"):
                return str(value).lower() == "true"
            case "text" if isinstance(value, str):
                # No database's text holds a null character, or half of a surrogate pair.
                if b"\0" in value.encode():
                    raise ValueError("null character")
                return value
            case "integer" if not isinstance(value, bool | float) and abs(int(value)) < 2**63:
                return int(value)
            case "numeric" if not isinstance(value, bool):
                number = Decimal(str(value))
                if number.is_finite():
                    return number
            case "date" if isinstance(value, str):
                return dt.date.fromisoformat(value)
            case "timestamp" if isinstance(value, str):
                return dt.datetime.fromisoformat(value).replace(tzinfo=None)
    except (ValueError, InvalidOperation):
        pass
    raise ValueError(f"The attribute {name} is no {kind}.")


def _to_sqlite(value: Bound) -> object:
    if isinstance(value, dt.datetime):
        return value.isoformat(" ")
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return float(value)
    return value
