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

    ``id`` is a hash of the pair and its access, so that a repeated pair is one example. ``access``
    is the access key of the sender, empty for a pair from a file. Only principals with one of
    ``roles`` are shown it; empty means all principals. ``tables`` are qualified names. ``reviewed``
    says that it is feedback of somebody who may review answers.
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
    reviewed: bool = False


def fold_question(question: str) -> str:
    """Folds case, spacing and final punctuation of a question, so that repetitions are equal.

    >>> fold_question(" How many  Orders? ")
    'how many orders'
    """
    return " ".join(question.casefold().split()).rstrip(" ?.!")


def build_access_key(principal: Principal) -> str:
    """A hash of roles and attributes: equal for principals who may see the same rows.

    >>> mia = Principal("mia", ("clerk", "buyer"), (("region", 1),))
    >>> build_access_key(mia) == build_access_key(
    ...     Principal("ann", ("buyer", "clerk"), (("region", 1),)))
    True
    """
    attributes = sorted(principal.attributes, key=lambda pair: pair[0])
    text = json.dumps([sorted(set(principal.roles)), attributes])
    return hashlib.sha256(text.encode()).hexdigest()[:32]
