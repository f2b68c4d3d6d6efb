"""An example as it is stored: a question, the query that answers it, and who gave it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from nl2sql.types import Principal

Source = Literal["file", "benchmark", "feedback"]


@dataclass(frozen=True, slots=True)
class VerifiedExample:
    """A question about ``database`` and the query that answers it.

    ``id`` is a hash over what makes it this example, so that the same pair given twice is one.
    ``access`` is the access key of who gave it, empty where it came from a file; ``roles`` limits
    who is shown it, nobody being left out where there are none. ``tables`` are qualified names.
    """

    id: str
    database: str
    question: str
    masked: str
    sql: str
    form: str
    tables: tuple[str, ...]
    source: Source
    given_by: str
    access: str
    roles: tuple[str, ...]
    created_at: datetime


def fold_question(question: str) -> str:
    """What is equal for a question in any case, spacing and final punctuation.

    >>> fold_question(" How many  Orders? ")
    'how many orders'
    """
    return " ".join(question.casefold().split()).rstrip(" ?.!")


def build_access_key(principal: Principal) -> str:
    """The same for principals who may see the same rows: equal roles and equal attributes.

    >>> mia = Principal("mia", ("clerk", "buyer"), (("region", 1),))
    >>> build_access_key(mia) == build_access_key(
    ...     Principal("ann", ("buyer", "clerk"), (("region", 1),)))
    True
    """
    attributes = sorted(principal.attributes, key=lambda pair: pair[0])
    told = json.dumps([sorted(set(principal.roles)), attributes])
    return hashlib.sha256(told.encode()).hexdigest()[:32]
