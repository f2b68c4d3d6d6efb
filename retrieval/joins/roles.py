"""Roles: what a key's own words add to the table it refers to.

``orders.billing_address_id`` and ``orders.shipping_address_id`` both refer to addresses; the words
"billing" and "shipping" tell them apart. ``employees.manager_id`` refers to employees again: the
manager of an employee is an employee under a role.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from nl2sql.catalog import ForeignKey
from nl2sql.types import SchemaLink
from nl2sql.words import split_words
from retrieval.linking.question_words import read_name

# Links by what the column means: by its name alone, the words of the role decide.
_MEANT = frozenset({"synonym", "comment", "model"})
# Words that make a column a reference and say nothing of its role.
_REFERENCE_WORDS = frozenset("id no nr num number code key fk ref uid uuid by".split())


def name_role(key: ForeignKey) -> str:
    """What stands in for the target, in the words of the key's first column.

    >>> key = ForeignKey("k", "hr.staff", ("ManagerId",), "hr.staff", ("id",))
    >>> name_role(key)
    'manager'
    """
    words = read_name(key.columns[0])
    kept = [word for word in words if word not in _REFERENCE_WORDS]
    return "_".join(kept or words)


def find_named_keys(
    question: str, foreign_keys: Sequence[ForeignKey], links: Sequence[SchemaLink]
) -> tuple[ForeignKey, ...]:
    """The keys whose role the question names, by the key's words or by a link to its column.

    Only where there is something to tell apart: several keys between two tables, or a key of a
    table onto itself.
    """
    pairs = Counter((key.table, key.target) for key in foreign_keys)
    spoken = frozenset(split_words(question))
    linked = {
        (link.table, link.column)
        for link in links
        if link.method in ("synonym", "comment", "model")
    }
    return tuple(
        key
        for key in foreign_keys
        if (key.table == key.target or pairs[key.table, key.target] > 1)
        and (
            ((telling := _telling_words(key)) and telling <= spoken)
            or any((key.table, column) in linked for column in key.columns)
        )
    )


def _telling_words(key: ForeignKey) -> frozenset[str]:
    """The role's words that the target's own name does not have."""
    target = {*read_name(key.target.split(".", 1)[-1]), *_REFERENCE_WORDS}
    return frozenset(word for word in read_name(key.columns[0]) if word not in target)
