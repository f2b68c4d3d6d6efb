"""Glosses for prompts: kinds, units, expanded names, synonyms, and the values of columns with few.

They are the same for every question on the same tables, so that prompts share their beginning.
Values are shown only for columns of which the principal may see all values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nl2sql.catalog import Catalog, Column, Table
from nl2sql.errors import IndexUnavailable
from nl2sql.protocols import Visibility
from nl2sql.types import Question
from nl2sql.units import find_unit
from retrieval.glosses.build import write_out
from retrieval.glosses.enumerations import render_enumeration
from retrieval.glosses.kinds import find_mark
from retrieval.per_catalog import PerCatalog
from retrieval.values.memory import ValueMemory
from retrieval.vocabulary.synonyms import NO_SYNONYMS, Synonyms


class IndexedGlossary:
    """The glossary over the value index and the synonym files; ``synonyms`` is by database."""

    def __init__(
        self, memory: ValueMemory, visibility: Visibility, synonyms: Mapping[str, Synonyms]
    ) -> None:
        self._memory = memory
        self._visibility = visibility
        self._synonyms = dict(synonyms)
        self._targets = PerCatalog(_find_targets)

    async def describe(
        self, question: Question, tables: Sequence[Table], catalog: Catalog
    ) -> tuple[tuple[str, str], ...]:
        """Pairs of ``schema.table`` or ``schema.table.column`` and a description.

        A column's values are a second pair of the same name. ``catalog`` is the visible one. Raises
        PolicyError.
        """
        synonyms = self._synonyms.get(question.database, NO_SYNONYMS)
        targets = self._targets.of(catalog)
        values = await self._enumerations(question)
        # A key between two of the tables is in the schema already.
        shown = {catalog.short_names.get(table.qualified) for table in tables}
        pairs: list[tuple[str, str]] = []
        for table in tables:
            pairs.append((table.qualified, describe_table(table, synonyms)))
            for column in table.columns:
                name = f"{table.qualified}.{column.name}"
                target = targets.get(name, "")
                kind = "" if target in shown else self._find_mark(table, column, catalog)
                pairs.append((name, describe_column(table, column, kind, synonyms)))
                pairs.append((name, render_enumeration(values.get(name, ()), column.comment)))
        return tuple(pair for pair in pairs if pair[1])

    def describe_names(self, catalog: Catalog) -> list[str]:
        """What each table's name means, in the catalog's order; empty where it is not known."""
        synonyms = self._synonyms.get(catalog.database, NO_SYNONYMS)
        return [describe_table(table, synonyms) for table in catalog.tables]

    def describe_columns(self, table: Table, catalog: Catalog) -> list[str]:
        """What each column of the table is, in its order; ``catalog`` is the visible one."""
        synonyms = self._synonyms.get(catalog.database, NO_SYNONYMS)
        return [
            describe_column(table, column, self._find_mark(table, column, catalog), synonyms)
            for column in table.columns
        ]

    def _find_mark(self, table: Table, column: Column, catalog: Catalog) -> str:
        return find_mark(
            column,
            catalog.dialect,
            is_key=table.primary_key == (column.name,),
            target=self._targets.of(catalog).get(f"{table.qualified}.{column.name}", ""),
        )

    async def _enumerations(self, question: Question) -> Mapping[str, tuple[str, ...]]:
        """The values of open columns with few values; empty if the index is unavailable."""
        try:
            dictionary = await self._memory.dictionary(question.database)
            opened = await self._visibility.open_columns(question.database, question.principal)
        except IndexUnavailable:
            return {}
        if dictionary is None:
            return {}
        found = dictionary.enumerations
        if opened is None:
            return found
        return {name: values for name, values in found.items() if name in opened}


def _find_targets(catalog: Catalog) -> dict[str, str]:
    """Column → the short name of the table that its foreign key points to."""
    return {
        f"{key.table}.{key.columns[0]}": catalog.short_names[key.target]
        for key in catalog.foreign_keys
        if len(key.columns) == 1 and key.target in catalog.short_names
    }


def describe_table(table: Table, synonyms: Synonyms) -> str:
    """The expanded name, unless there is a comment, and the user's synonyms."""
    long = "" if table.comment else write_out(table.name)
    return _join("", long, synonyms.tables.get(table.qualified, ()), "")


def describe_column(table: Table, column: Column, kind: str, synonyms: Synonyms) -> str:
    """The kind, the expanded name, the user's synonyms and the unit.

    Kind and name are left out where a comment describes the column, to keep prompts short.

    >>> budget = Table("f", "budgets", (Column("plan_amt_eur", "numeric"),))
    >>> describe_column(budget, budget.columns[0], "[AMT]", NO_SYNONYMS)
    '[AMT] plan amount eur; in EUR'
    """
    unit = find_unit(column.name)
    is_in_comment = unit.lower() in column.comment.lower()
    own = synonyms.columns.get(f"{table.qualified}.{column.name}", ())
    long = "" if column.comment else write_out(column.name)
    return _join("" if column.comment else kind, long, own, "" if is_in_comment else unit)


def _join(kind: str, long: str, own: Sequence[str], unit: str) -> str:
    parts = [
        f"{kind} {long}".strip(),
        f"also called {', '.join(own)}" if own else "",
        f"in {unit}" if unit else "",
    ]
    return "; ".join(part for part in parts if part)
