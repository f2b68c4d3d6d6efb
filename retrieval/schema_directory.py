"""Describes databases to principals: which they may ask, their tables, examples and definitions.

Everything comes from the index, as far as the principal may see it. Values are shown of columns of
which the principal may see all rows. A hidden table is as unknown as one that does not exist.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from nl2sql.catalog import Catalog, ForeignKey, Table
from nl2sql.concurrency import gather_all
from nl2sql.errors import IndexUnavailable, PolicyError
from nl2sql.protocols import Visibility
from nl2sql.types import Definition, FewShot, Principal, Violation
from quorumsql.contract.schema import (
    ColumnDetailsResponse,
    KeyResponse,
    NeighbourResponse,
    TableDetailsResponse,
    TableEntryResponse,
    TablesResponse,
)
from retrieval.examples.selector import ExampleSelector
from retrieval.glosses import IndexedGlossary
from retrieval.per_catalog import PerCatalog, read_visible
from retrieval.search.keys import find_table
from retrieval.search.modules import find_modules
from retrieval.search.table_search import TableSearch
from retrieval.semantics.layer import SemanticLayer

# Values of a column that are shown.
_MOST_BROWSED_VALUES = 50
_MOST_NEIGHBOURS = 100
_MOST_EXAMPLES = 20
# A view of the catalog takes about 1 kB for each table; each set of roles has its own.
_MOST_VIEWS = 16


@dataclass(frozen=True, slots=True)
class TableDescriptions:
    """Tables of a database as a principal may see them, and the keys that start at them.

    ``names`` gives the shortest SQL name of each table. ``unknown`` lists the requested names under
    which the principal sees no table. ``total`` counts all tables that the principal may see.
    ``row_rules`` pairs a table whose rows the policy limits with the condition, empty if the
    principal may not read it; ``masks`` pairs ``schema.table`` with the columns of which some rows
    show NULL or a hash.
    """

    tables: tuple[Table, ...]
    names: tuple[str, ...]
    foreign_keys: tuple[ForeignKey, ...] = ()
    row_rules: tuple[tuple[str, str], ...] = ()
    masks: tuple[tuple[str, tuple[str, ...]], ...] = ()
    unknown: tuple[str, ...] = ()
    total: int = 0
    dialect: str = "postgres"


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


class SchemaDirectory:
    """Answers from the indexes of all databases; lists and single tables as the contract has them.

    All methods raise IndexUnavailable if the database was never indexed, PolicyError if its policy
    does not fit it, Forbidden if the principal may see nothing of it.
    """

    def __init__(
        self,
        visibility: Visibility,
        glossary: IndexedGlossary,
        *,
        definitions: SemanticLayer | None = None,
        examples: ExampleSelector | None = None,
    ) -> None:
        self._visibility = visibility
        self._glossary = glossary
        self._definitions = definitions
        self._examples = examples
        self._views = PerCatalog(
            lambda catalog: _View(catalog, glossary.describe_names(catalog)), most=_MOST_VIEWS
        )

    async def list_admitted(
        self, databases: tuple[str, ...], principal: Principal
    ) -> tuple[str, ...]:
        """The databases of which the principal may see at least one table.

        A database whose index or policy cannot be read is left out. Raises IndexUnavailable or
        PolicyError if that is true of all of them.
        """
        found = await gather_all(self._is_admitted(name, principal) for name in databases)
        errors = [outcome for outcome in found if isinstance(outcome, Exception)]
        if errors and len(errors) == len(found):
            raise errors[0]
        return tuple(
            name for name, outcome in zip(databases, found, strict=True) if outcome is True
        )

    async def _is_admitted(self, database: str, principal: Principal) -> bool | Exception:
        try:
            visible = await self._visibility.visible_catalog(database, principal)
        except (IndexUnavailable, PolicyError) as error:
            return error
        return not isinstance(visible, Violation) and bool(visible.tables)

    async def describe_tables(
        self, database: str, names: tuple[str, ...], principal: Principal, most: int
    ) -> TableDescriptions:
        """The tables of these names, all if there are none; at most ``most``."""
        visible = await read_visible(self._visibility, database, principal)
        found = {name: find_table(visible, name) for name in names}
        chosen: Iterable[Table] = (
            dict.fromkeys(table for table in found.values() if table) if names else visible.tables
        )
        tables = tuple(chosen)[:most]
        inside = dict.fromkeys(table.qualified for table in tables)
        return TableDescriptions(
            tables=tables,
            names=tuple(visible.short_names[name] for name in inside),
            foreign_keys=tuple(key for key in visible.keys if key.table in inside),
            row_rules=await self._visibility.describe_rows(database, principal, inside),
            masks=tuple(
                [
                    (table, tuple(sorted(masked)))
                    for table in inside
                    if (masked := await self._visibility.masked_columns(database, principal, table))
                ]
            ),
            unknown=tuple(name for name, table in found.items() if table is None),
            total=len(visible.tables),
            dialect=visible.dialect,
        )

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
        values_of = await self._glossary.open_values(database, principal, visible)
        values = {
            column.name: values_of(f"{table.qualified}.{column.name}")
            for column in table.columns
            if column.name not in masked
        }
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
                    values=list(values.get(column.name, ())[:_MOST_BROWSED_VALUES]),
                    values_truncated=len(values.get(column.name, ())) > _MOST_BROWSED_VALUES,
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

    async def list_examples(self, database: str, principal: Principal) -> tuple[FewShot, ...]:
        """Verified questions with queries that the principal may see and run."""
        if self._examples is None:
            return ()
        visible = await read_visible(self._visibility, database, principal)
        return await self._examples.list_latest(database, principal, visible, _MOST_EXAMPLES)

    async def list_definitions(self, database: str, principal: Principal) -> tuple[Definition, ...]:
        """The definitions of which the principal may see all that they read."""
        visible = await read_visible(self._visibility, database, principal)
        if self._definitions is None:
            return ()
        return await self._definitions.list_visible(database, visible)


def _describe_key(key: ForeignKey, direction: Literal["out", "in"]) -> NeighbourResponse:
    """The other table of a key, and the condition that joins it."""
    table, own, others = key.target, key.columns, key.target_columns
    if direction == "in":
        table, own, others = key.table, others, own
    condition = " AND ".join(f"{a} = {b}" for a, b in zip(own, others, strict=True))
    return NeighbourResponse(table=table, columns=condition, direction=direction)
