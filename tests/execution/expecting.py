"""Narrows a value to the type that a test expects."""

from __future__ import annotations

from typing import TypeVar

_Expected = TypeVar("_Expected")


def expect(kind: type[_Expected], value: object) -> _Expected:
    """The value, which must be of that kind; otherwise the assertion shows it."""
    assert isinstance(value, kind), value
    return value
