"""Roles: words in a key's name that distinguish it from other keys to the same table.

``orders.billing_address_id`` and ``orders.shipping_address_id`` both refer to addresses; the words
"billing" and "shipping" distinguish them. ``employees.manager_id`` refers to employees again: the
manager of an employee is an employee in another role.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from nl2sql.catalog import ForeignKey
from nl2sql.types import SchemaLink
from nl2sql.words import split_words
from retrieval.linking.question_words import read_name

# Links by a column's meaning; for links by its name, the words of the role decide.
_MEANT = frozenset({"synonym", "comment", "model"})
# Words that mark a column as a reference and are not part of its role.
_REFERENCE_WORDS = frozenset("id no nr num number code key fk ref uid uuid by".split())


def name_role(key: ForeignKey) -> str:
    """The role of the target, in the words of the key's first column.

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

    Only keys that need a role: one of several between two tables, or of a table to itself.
    """
    pairs = Counter((key.table, key.target) for key in foreign_keys)
    spoken = frozenset(split_words(question))
    linked = {(link.table, link.column) for link in links if link.method in _MEANT}
    return tuple(
        key
        for key in foreign_keys
        if (key.table == key.target or pairs[key.table, key.target] > 1)
        and (
            ((role := _role_words(key)) and role <= spoken)
            or any((key.table, column) in linked for column in key.columns)
        )
    )


def _role_words(key: ForeignKey) -> frozenset[str]:
    """The words of the column's name that are not in the target's name."""
    target = {*read_name(key.target.split(".", 1)[-1]), *_REFERENCE_WORDS}
    return frozenset(word for word in read_name(key.columns[0]) if word not in target)
