"""The interfaces for browsing tables, beside those of ``protocols.py``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from nl2sql.protocols import Visibility
from nl2sql.types import Definition, Principal, TableDetails, TablePage, Violation


class ColumnVisibility(Visibility, Protocol):
    """Determines which part of a database a principal may see, down to rows and masks."""

    async def describe_rows(
        self, database: str, principal: Principal, tables: Iterable[str]
    ) -> tuple[tuple[str, str], ...]:
        """(``schema.table``, condition) for those of the tables whose rows the policy limits.

        The condition is SQL; it is empty where the principal may not read it. Raise as
        ``visible_catalog`` does.
        """
        ...

    async def masked_columns(
        self, database: str, principal: Principal, table: str
    ) -> frozenset[str]:
        """The columns of ``schema.table`` of which some rows show NULL instead.

        Raise as ``visible_catalog`` does.
        """
        ...


class TableBrowser(Protocol):
    """Shows the tables of databases to people. Methods raise as ``Visibility.visible_catalog``.

    They return a violation if the principal may see nothing of the database.
    """

    async def find_tables(
        self, database: str, search: str, principal: Principal, after: str, most: int
    ) -> TablePage | Violation:
        """At most ``most`` tables that match the search, those after the cursor ``after``.

        Raise InvalidRequest for a cursor of another origin."""
        ...

    async def describe_table(
        self, database: str, name: str, principal: Principal
    ) -> TableDetails | Violation | None:
        """One table; None if the principal sees none of that name."""
        ...

    async def list_definitions(
        self, database: str, principal: Principal
    ) -> tuple[Definition, ...] | Violation:
        """The definitions of which the principal may see all that they read."""
        ...
