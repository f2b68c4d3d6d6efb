"""Prefixes that all columns of a table have, as in ``sbtxid``, ``sbtxamount``, ``sbtxcustid``.

Such names are not made of words that could be compared: what a column is called is the rest of its
name, and a key refers to the column of the other table with the same rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

from nl2sql.catalog import ForeignKey, Table

_FEWEST_COLUMNS = 3
_SHORTEST = 2
# "id" alone is the table's own key.
_SHORTEST_KEY = 4
# Words that models append to a column's name without changing its meaning.
_EMPTY_ENDINGS = ("", "name", "code", "value")


def find_prefix(table: Table) -> str:
    """The prefix of all columns in lower case; empty if there is none, or it ends a column.

    >>> from nl2sql.catalog import Column
    >>> names = ("sbTxId", "sbTxCustId", "sbTxAmount")
    >>> find_prefix(Table("s", "sbTransaction", tuple(Column(name, "text") for name in names)))
    'sbtx'
    """
    names = [column.name.lower() for column in table.columns]
    # The signs at which all names agree.
    agreed = takewhile(lambda signs: len(set(signs)) == 1, zip(*names, strict=False))
    prefix = "".join(signs[0] for signs in agreed)
    if len(names) < _FEWEST_COLUMNS or len(prefix) < _SHORTEST or prefix in names:
        return ""
    return prefix


def list_meant(invented: str, table: Table) -> list[str]:
    """The columns that an invented name means: what is before their rest names the table.

    >>> from nl2sql.catalog import Column
    >>> names = ("sbTxId", "sbTxCustId", "sbTxAmount", "sbTxType")
    >>> table = Table("s", "sbTransaction", tuple(Column(name, "text") for name in names))
    >>> [list_meant(name, table) for name in ("txAmount", "transaction_type", "customer_id")]
    [['sbTxAmount'], ['sbTxType'], []]
    """
    prefix = find_prefix(table)
    if not prefix:
        return []
    name, owners = _squeeze(invented), (_squeeze(prefix), _squeeze(table.name))
    return [
        column.name
        for column in table.columns
        for ending in _EMPTY_ENDINGS
        if _is_named(name, _squeeze(column.name[len(prefix) :]) + ending, owners)
    ]


def infer_keys(tables: Sequence[Table], known: Sequence[ForeignKey]) -> Iterator[ForeignKey]:
    """Keys between tables without a known one, from the rests of the columns' names."""
    joined = {frozenset((key.table, key.target)) for key in known}
    prefixed = [(table, prefix) for table in tables if (prefix := find_prefix(table))]
    for table, prefix in prefixed:
        for column in table.columns:
            rest = column.name[len(prefix) :].lower()
            targets = [
                target
                for target, _ in prefixed
                if target is not table
                and len(rest) >= _SHORTEST_KEY
                and len(target.primary_key) == 1
                and _ends(target.primary_key[0].lower(), rest, prefix)
            ]
            if (
                len(targets) == 1
                and frozenset((table.qualified, targets[0].qualified)) not in joined
            ):
                yield ForeignKey(
                    "",
                    table.qualified,
                    (column.name,),
                    targets[0].qualified,
                    targets[0].primary_key,
                    inferred=True,
                )


def _ends(key: str, rest: str, prefix: str) -> bool:
    """Whether the key is the rest after what all tables' prefixes begin with."""
    return key.endswith(rest) and prefix.startswith(key.removesuffix(rest))


def _is_named(name: str, rest: str, owners: tuple[str, ...]) -> bool:
    before = name.removesuffix(rest)
    return bool(rest) and name.endswith(rest) and any(owner.endswith(before) for owner in owners)


def _squeeze(name: str) -> str:
    return "".join(sign for sign in name.casefold() if sign.isalnum())
