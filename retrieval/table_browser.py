"""Shows principals the tables of a database: lists that are searched, and one table in detail.

Everything comes from the index, as far as the principal may see it. Values are shown of columns of
which the principal may see all rows. A hidden table is as unknown as one that does not exist.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Literal

from nl2sql.catalog import Catalog, ForeignKey, Table
from nl2sql.protocols import Visibility
from nl2sql.types import Definition, Principal
from quorumsql.contract.schema import (
    ColumnDetailsResponse,
    KeyResponse,
    NeighbourResponse,
    TableDetailsResponse,
    TableEntryResponse,
    TablesResponse,
)
from retrieval.glosses import IndexedGlossary
from retrieval.per_catalog import PerCatalog, read_visible
from retrieval.search.keys import find_table
from retrieval.search.modules import find_modules
from retrieval.search.table_search import TableSearch
from retrieval.semantics.layer import SemanticLayer
from retrieval.values.dictionary import ValueMemory

MOST_VALUES = 50
"""Values of a column that are shown."""

_MOST_NEIGHBOURS = 100
# A view of the catalog takes about 1 kB for each table; each set of roles has its own.
_MOST_VIEWS = 16


class _View:
    """One visible catalog, ready to be browsed."""

    def __init__(self, catalog: Catalog, glosses: Sequence[str]) -> None:
        self.glosses = dict(
            zip((table.qualified for table in catalog.tables), glosses, strict=True)
        )
        self.search = TableSearch(catalog.tables, glosses)
        self.schemas = len({table.schema for table in catalog.tables})
        self.modules = {
            catalog.tables[at].qualified: module
            for module, members in find_modules(catalog).items()
            for at in members
        }
        self.incoming: dict[str, list[ForeignKey]] = {}
        for key in catalog.keys:
            self.incoming.setdefault(key.target, []).append(key)


class IndexedTables:
    """The tables of all databases, in the form of the contract.

    All methods raise IndexUnavailable if the database was never indexed, PolicyError if its policy
    does not fit it, Forbidden if the principal may see nothing of it.
    """

    def __init__(
        self,
        visibility: Visibility,
        glossary: IndexedGlossary,
        values: ValueMemory,
        definitions: SemanticLayer | None = None,
    ) -> None:
        self._visibility = visibility
        self._glossary = glossary
        self._values = values
        self._definitions = definitions
        self._views = PerCatalog(self._build_view, most=_MOST_VIEWS)

    async def find_tables(
        self, database: str, search: str, principal: Principal, after: str, most: int
    ) -> TablesResponse:
        """At most ``most`` tables that match the search, those after the cursor ``after``.

        Raises InvalidRequest for a cursor of another origin, too.
        """
        visible = await read_visible(self._visibility, database, principal)
        view = await self._views.load(visible)
        found = await asyncio.to_thread(view.search.find, search, after, most)
        tables = (visible.tables[at] for at in found.positions)
        return TablesResponse(
            tables=[
                TableEntryResponse(
                    table=table.qualified,
                    comment=table.comment,
                    gloss=view.glosses[table.qualified],
                    columns=len(table.columns),
                    module=view.modules.get(table.qualified, ""),
                    database_schema=table.schema,
                )
                for table in tables
            ],
            next=found.next or None,
            total=found.total,
            schemas=view.schemas,
        )

    async def describe_table(
        self, database: str, name: str, principal: Principal
    ) -> TableDetailsResponse | None:
        """One table; None if the principal sees none of that name."""
        visible = await read_visible(self._visibility, database, principal)
        table = find_table(visible, name)
        if table is None:
            return None
        view = await self._views.load(visible)
        masked = await self._visibility.masked_columns(database, principal, table.qualified)
        values = await self._read_values(table, visible, principal, masked)
        glosses = self._glossary.describe_columns(table, visible)
        outgoing = visible.keys_from.get(table.qualified, ())
        refers_to = {
            column: f"{key.target}.{target}"
            for key in reversed(outgoing)
            for column, target in zip(key.columns, key.target_columns, strict=True)
        }
        neighbours = [
            *(_describe_key(key, "out") for key in outgoing),
            *(_describe_key(key, "in") for key in view.incoming.get(table.qualified, ())),
        ]
        return TableDetailsResponse(
            table=table.qualified,
            kind=table.kind,
            comment=table.comment,
            gloss=view.glosses[table.qualified],
            columns=[
                ColumnDetailsResponse(
                    name=column.name,
                    type=column.type,
                    nullable=column.nullable,
                    comment=column.comment,
                    gloss=gloss,
                    is_key=column.name in table.primary_key,
                    values=list(values.get(column.name, ((), False))[0]),
                    values_truncated=values.get(column.name, ((), False))[1],
                    refers_to=refers_to.get(column.name),
                    is_masked=column.name in masked,
                )
                for column, gloss in zip(table.columns, glosses, strict=True)
            ],
            primary_key=list(table.primary_key),
            keys=[
                KeyResponse(
                    columns=list(key.columns),
                    table=key.target,
                    target_columns=list(key.target_columns),
                    is_inferred=key.inferred,
                )
                for key in outgoing
            ],
            neighbours=neighbours[:_MOST_NEIGHBOURS],
            neighbours_total=len(neighbours),
        )

    async def list_definitions(self, database: str, principal: Principal) -> tuple[Definition, ...]:
        """The definitions of which the principal may see all that they read."""
        visible = await read_visible(self._visibility, database, principal)
        if self._definitions is None:
            return ()
        return await self._definitions.list_visible(database, visible)

    def _build_view(self, visible: Catalog) -> _View:
        return _View(visible, self._glossary.describe_names(visible))

    async def _read_values(
        self, table: Table, visible: Catalog, principal: Principal, masked: frozenset[str]
    ) -> dict[str, tuple[tuple[str, ...], bool]]:
        """Column → some of its values, and whether there are others."""
        dictionary = await self._values.dictionary(visible.database)
        if dictionary is None:
            return {}
        opened = await self._visibility.open_columns(visible.database, principal)
        found: dict[str, tuple[tuple[str, ...], bool]] = {}
        for column in table.columns:
            name = f"{table.qualified}.{column.name}"
            values = dictionary.values_of(name)
            if values and column.name not in masked and (opened is None or name in opened):
                found[column.name] = (tuple(values[:MOST_VALUES]), len(values) > MOST_VALUES)
        return found


def _describe_key(key: ForeignKey, direction: Literal["out", "in"]) -> NeighbourResponse:
    """The other table of a key, and the condition that joins it."""
    table, own, others = key.target, key.columns, key.target_columns
    if direction == "in":
        table, own, others = key.table, others, own
    condition = " AND ".join(f"{a} = {b}" for a, b in zip(own, others, strict=True))
    return NeighbourResponse(table=table, columns=condition, direction=direction)
