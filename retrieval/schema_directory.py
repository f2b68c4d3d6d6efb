"""Describes databases to principals: which they may ask, their tables, and examples of questions.

Everything comes from the index, as far as the principal may see it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from nl2sql.catalog import ForeignKey, Table
from nl2sql.concurrency import gather_all
from nl2sql.errors import IndexUnavailable, PolicyError
from nl2sql.protocols import Visibility
from nl2sql.types import FewShot, Principal, Violation
from retrieval.examples.selector import ExampleSelector
from retrieval.per_catalog import read_visible
from retrieval.search.keys import find_table

_MOST_EXAMPLES = 20


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


class SchemaDirectory:
    """Answers from the indexed catalogs."""

    def __init__(self, visibility: Visibility, examples: ExampleSelector | None = None) -> None:
        self._visibility = visibility
        self._examples = examples

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
        """The tables of these names, all if there are none; at most ``most``.

        Raises Forbidden if the principal may see nothing of the database, IndexUnavailable if it
        was never indexed, PolicyError if its policy does not fit it.
        """
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

    async def list_examples(self, database: str, principal: Principal) -> tuple[FewShot, ...]:
        """Verified questions with queries that the principal may see and run. Raises likewise."""
        if self._examples is None:
            return ()
        visible = await read_visible(self._visibility, database, principal)
        return await self._examples.list_latest(database, principal, visible, _MOST_EXAMPLES)
