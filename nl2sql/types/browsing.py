"""Tables and columns as people browse them, without a question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from nl2sql.catalog import Column, ForeignKey


@dataclass(frozen=True, slots=True)
class TableEntry:
    """A table in a list. ``table`` is its qualified name, ``columns`` the number of visible ones.

    ``schema`` is the database schema that the qualified name begins with.

    ``gloss`` describes what its name means; ``module`` is empty where the tables form none.
    """

    table: str
    comment: str
    gloss: str
    columns: int
    module: str
    schema: str


@dataclass(frozen=True, slots=True)
class TablePage:
    """Some of ``total`` tables; ``next`` is the cursor of the next page, empty at the end.

    ``schemas`` is the number of database schemas with visible tables, also those not found.
    """

    tables: tuple[TableEntry, ...]
    next: str
    total: int
    schemas: int


@dataclass(frozen=True, slots=True)
class ColumnDetails:
    """A column and what is known of it.

    ``values`` are some of its distinct values; ``has_more_values`` says that there may be others.
    ``refers_to`` is ``schema.table.column`` of a foreign key, or empty. ``is_masked``: some or all
    rows show NULL or a hash in place of the value.
    """

    column: Column
    gloss: str = ""
    is_key: bool = False
    values: tuple[str, ...] = ()
    has_more_values: bool = False
    refers_to: str = ""
    is_masked: bool = False


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A table that a foreign key joins to the described one.

    ``columns`` is the condition (``customer_id = id``), the described table's columns on the left.
    ``direction`` is ``out`` for a key of the described table.
    """

    table: str
    columns: str
    direction: Literal["out", "in"]


@dataclass(frozen=True, slots=True)
class TableDetails:
    """A table as a principal sees it; ``keys`` start at it.

    ``neighbours`` lists at most a page; ``neighbours_total`` counts all visible ones.
    """

    table: str
    kind: str
    comment: str
    gloss: str
    columns: tuple[ColumnDetails, ...]
    primary_key: tuple[str, ...]
    keys: tuple[ForeignKey, ...]
    neighbours: tuple[Neighbour, ...]
    neighbours_total: int
