"""The tables that a query may use, with their names as the database compares them.

Built from the schema context alone, so a repair can name nothing that the principal may not see.
Knows nothing of queries.

All columns of a table may have a prefix, as in ``sbtxid``, ``sbtxamount``, ``sbtxcustid``: a key
refers to the column of the other table with the same rest of the name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TypeVar

from sqlglot import exp

from nl2sql.catalog import ForeignKey, Table
from nl2sql.sql.names import fold_name, quote_name
from nl2sql.sql.nodes import find_all, read_identifier
from nl2sql.sql.parsing import parse_one
from nl2sql.types import Definition, JoinPlan, Plan, SchemaContext, ValueMatch

_FEWEST_COLUMNS = 3
_SHORTEST = 2
# "id" alone is the table's own key.
_SHORTEST_KEY = 4


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


Way = TypeVar("Way")
_NO_PLAN = Plan()


@dataclass(frozen=True, slots=True)
class KeyNeighbour:
    """A table that is one key away; ``pairs`` are the columns to join by: (own, neighbour's)."""

    table: Table
    key: ForeignKey
    pairs: tuple[tuple[str, str], ...]


class TableLookup:
    """Looks names up in a schema context, as its dialect compares them."""

    def __init__(self, context: SchemaContext, plan: Plan = _NO_PLAN) -> None:
        self.dialect = context.dialect
        self.tables: tuple[Table, ...] = tuple(hit.table for hit in context.tables)
        self.values: tuple[ValueMatch, ...] = context.values
        self.definitions: tuple[Definition, ...] = context.definitions
        self.joins: JoinPlan = plan.joins
        known = context.foreign_keys
        self._keys = (*known, *infer_keys(self.tables, known))
        self._planned = frozenset(plan.joins.keys)
        self._names = {
            hit.table.qualified: name
            for hit, name in zip(context.tables, context.names, strict=True)
        }
        self._columns = {
            table.qualified: {self.fold(column.name): column.name for column in table.columns}
            for table in self.tables
        }

    def fold(self, name: str) -> str:
        """A form that is equal for all spellings of a stored name."""
        return fold_name(name, self.dialect)

    def spell(self, identifier: exp.Expr) -> str:
        """The folded name that the database reads in an identifier of a query."""
        return read_identifier(identifier, self.dialect)

    def find_table(self, node: exp.Table) -> Table | None:
        """The only visible table that the node can mean, or None."""
        schema = node.args.get("db")
        name = self.spell(node.this)
        found = [
            table
            for table in self.tables
            if self.fold(table.name) == name
            and (schema is None or self.fold(table.schema) == self.spell(schema))
        ]
        return found[0] if len(found) == 1 else None

    def list_columns(self, table: Table) -> dict[str, str]:
        """Folded name → stored name of all columns."""
        return self._columns[table.qualified]

    def list_neighbours(self, table: Table) -> tuple[KeyNeighbour, ...]:
        """The other tables that are one key away; a table twice if two keys lead there."""
        by_name = {table.qualified: table for table in self.tables}
        found = []
        for key in self._keys:
            ends = ((key.table, key.columns), (key.target, key.target_columns))
            for (own, columns), (other, others) in (ends, ends[::-1]):
                if own == table.qualified and other != own and other in by_name:
                    pairs = tuple(zip(columns, others, strict=True))
                    found.append(KeyNeighbour(by_name[other], key, pairs))
        return tuple(found)

    def choose(self, ways: Sequence[tuple[Way, KeyNeighbour]]) -> tuple[Way, KeyNeighbour] | None:
        """The only join, or of several the only one in the join plan."""
        if len(ways) > 1:
            ways = [way for way in ways if way[1].key in self._planned]
        return ways[0] if len(ways) == 1 else None

    def build_table(self, table: Table) -> exp.Table:
        """The table as a query names it."""
        tree = parse_one(f"SELECT 1 FROM {self._names[table.qualified]}", self.dialect)
        return next(find_all(tree, exp.Table))

    def build_identifier(self, name: str) -> exp.Identifier:
        """A stored name as a query writes it, quoted if necessary."""
        return exp.to_identifier(name, quoted=quote_name(name, self.dialect) != name)
