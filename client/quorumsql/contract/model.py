"""The bases of all requests and responses, and the fields that several of them have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SkipValidation,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic_core import PydanticCustomError

Text = SkipValidation[str]
"""Text that is not validated: it may hold a lone surrogate, which pydantic refuses."""

Rows = SkipValidation[list[list[Any]]]
"""Rows of JSON values that are not validated one by one."""

PREDICATES = (
    "The row filters that the policy added, as `table: condition` with the reader's own values; "
    "the table alone where the condition is not shown."
)

SpreadsheetSafe = Annotated[
    bool,
    Field(
        description="CSV for spreadsheets: begin with a byte order mark, and put an apostrophe "
        "before text that they would run as a formula."
    ),
]

MOST_K = 32
"""Most candidates that a request may ask for."""


def _read_count(value: object, read: ValidatorFunctionWrapHandler) -> Any:
    """What is read, or one error in place of one for each of the two forms."""
    try:
        return read(value)
    except ValidationError as error:
        message = f"It must be a number from 1 to {MOST_K}, or adaptive"
        raise PydanticCustomError("candidate_count", "{message}", {"message": message}) from error


CandidateCount = Annotated[
    Annotated[int, Field(strict=True, ge=1, le=MOST_K)] | Literal["adaptive"],
    WrapValidator(_read_count),
]
"""A number of candidates; ``adaptive``: four, and four more where these do not agree."""


class RequestModel(BaseModel):
    """An unknown key is an error, and so is a value of another type."""

    model_config = ConfigDict(extra="forbid", strict=True)


class ResponseModel(BaseModel):
    """Every key is always present. Older clients ignore keys that a later version adds."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Listed(ResponseModel):
    """A response that people take for a list: of rows, tables, databases.

    Iterating it, its length and its positions are those of the fields ``LISTED``. It is true also
    if it is empty.
    """

    LISTED: ClassVar[tuple[str, ...]]

    @property
    def _items(self) -> Sequence[Any]:
        return [item for name in self.LISTED for item in getattr(self, name)]

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, position: int) -> Any:
        return self._items[position]

    def __bool__(self) -> bool:
        return True
