"""Where a page of a list ended: the sort key of its last entry, as a text for clients.

The next page begins after that key, so pages stay right while entries come and go.
"""

from __future__ import annotations

import base64
from datetime import UTC
from typing import Annotated, TypeVar

from pydantic import AfterValidator, AwareDatetime, StringConstraints, TypeAdapter
from pydantic_core import to_json

from nl2sql.errors import InvalidRequest

_T = TypeVar("_T")

_LONGEST = 4000

# In UTC, as PostgreSQL knows fewer time zones.
Moment = Annotated[AwareDatetime, AfterValidator(lambda moment: moment.astimezone(UTC))]
"""A time in a sort key."""
Id = Annotated[str, StringConstraints(pattern=r"^\P{C}*$")]
"""A text in a sort key, without control characters."""


def write_cursor(*key: object) -> str:
    """The text of a sort key.

    >>> read_cursor(write_cursor(2, "sales.orders"), TypeAdapter(tuple[int, str]))
    (2, 'sales.orders')
    """
    return base64.urlsafe_b64encode(to_json(key)).decode().rstrip("=")


def read_cursor(text: str, form: TypeAdapter[_T]) -> _T | None:
    """The sort key; None for an empty text. Raises InvalidRequest for a text of another origin."""
    if not text:
        return None
    try:
        if len(text) > _LONGEST:
            raise ValueError
        padded = text + "=" * (-len(text) % 4)
        return form.validate_json(base64.b64decode(padded, "-_", validate=True))
    except (ValueError, OverflowError) as error:
        raise InvalidRequest("It is not the `next` of an earlier page.", field="after") from error
