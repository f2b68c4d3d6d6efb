"""Reads the SQL of definitions and finds their tables, columns and joins in a catalog.

A definition that does not fit the catalog gives problems instead. The text of a definition is kept
as the user wrote it, apart from the names of its tables, which are written as the catalog of a
principal resolves them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from nl2sql.catalog import Catalog, ForeignKey
from nl2sql.types import Definition, DefinitionKind
from retrieval.joins.skeleton import write_path
from retrieval.semantics.column_names import ColumnFinder, SqlPart
from retrieval.semantics.definition_joins import JoinFinder
from retrieval.semantics.semantics_file import (
    Dimension,
    Filter,
    Measure,
    Problem,
    SemanticsFile,
)
from retrieval.semantics.sql_parts import (
    Misfit,
    join_lines,
    read_condition,
    read_expression,
    split_where,
)
from retrieval.semantics.words import Phrase, read_phrases

_KINDS: dict[str, DefinitionKind] = {
    "measures": "measure",
    "dimensions": "dimension",
    "filters": "filter",
}


@dataclass(frozen=True, slots=True)
class Resolved:
    """A definition that fits the catalog; ``keys`` join its ``tables``."""

    kind: DefinitionKind
    name: str
    description: str
    phrases: tuple[Phrase, ...]
    expression: SqlPart
    condition: SqlPart
    tables: tuple[str, ...]
    keys: tuple[ForeignKey, ...]

    def list_columns(self) -> tuple[str, ...]:
        """``schema.table.column`` of all columns that it reads, with those of the keys."""
        parts = (*self.expression.names, *self.condition.names)
        names = [f"{name.table.qualified}.{name.column.name}" for name in parts]
        for key in self.keys:
            names += [f"{key.table}.{column}" for column in key.columns]
            names += [f"{key.target}.{column}" for column in key.target_columns]
        return tuple(dict.fromkeys(names))

    def build(self, catalog: Catalog, source: str = "") -> Definition | None:
        """The definition for one who sees ``catalog``; None if that lacks anything it reads."""
        columns = self.list_columns()
        if not all(map(_is_in(catalog), columns)) or not all(map(catalog.table, self.tables)):
            return None
        short, dialect = catalog.short_names, catalog.dialect
        expression = self.expression.render(short.__getitem__, dialect)
        condition = self.condition.render(short.__getitem__, dialect)
        names = {table: short[table] for table in self.tables}
        joins = write_path(self.tables[0], self.keys, (), names, dialect).skeleton
        query = f"SELECT {expression or 1}\n{joins}"
        return Definition(
            kind=self.kind,
            name=self.name,
            phrase=self.name,
            expression=expression,
            condition=condition,
            tables=self.tables,
            columns=columns,
            query=f"{query}\nWHERE {condition}" if condition else query,
            joins=" ".join(joins.splitlines()) if self.keys else "",
            description=self.description,
            source=source,
            synonyms=tuple(each.text for each in self.phrases if each.text != self.name),
        )


def resolve_definitions(
    file: SemanticsFile, catalog: Catalog
) -> tuple[tuple[Resolved, ...], tuple[Problem, ...]]:
    """The definitions that fit the catalog, and all that is wrong with the others."""
    resolver = _Resolver(catalog)
    found: list[Resolved] = []
    problems: list[Problem] = []
    taken: dict[tuple[str, ...], str] = {}
    for section, name, part in file.semantics.list_parts():
        place = (section, name)
        try:
            resolved = resolver.resolve(_KINDS[section], name, part)
        except Misfit as misfit:
            problems.append(Problem((*place, *misfit.place), misfit.text))
            continue
        # Also of a definition that is not used, its words are those of another.
        clash = [phrase for phrase in resolved.phrases if taken.get(phrase.words, name) != name]
        for phrase in clash:
            other = taken[phrase.words]
            text = f"{phrase.text!r} means {other!r} already; one word has one meaning"
            problems.append(Problem(place, text))
        if not clash:
            taken |= {phrase.words: name for phrase in resolved.phrases}
            found.append(resolved)
    return tuple(found), tuple(problems)


class _Resolver:
    """Finds what definitions read in one catalog. Every method raises Misfit."""

    def __init__(self, catalog: Catalog) -> None:
        self._dialect = catalog.dialect
        self._columns = ColumnFinder(catalog)
        self._joins = JoinFinder(catalog, self._columns)

    def resolve(
        self, kind: DefinitionKind, name: str, part: Measure | Dimension | Filter
    ) -> Resolved:
        dialect = self._dialect
        expression, condition = _read_texts(part, dialect)
        phrases = read_phrases((name, *part.synonyms))
        if not phrases:
            raise Misfit('its name has only words such as "the" and "how many"; choose another')
        read, limit = SqlPart(), SqlPart()
        if expression:
            tree = read_expression(expression, kind, dialect)
            read = self._columns.read(expression, tree, ("expression",))
        if condition:
            place = ("condition",) if isinstance(part, Filter) else ("filter",)
            limit = self._columns.read(condition, read_condition(condition, dialect, place), place)
        tables = dict.fromkeys(found.table.qualified for found in (*read.names, *limit.names))
        if not tables:
            raise Misfit("it reads no column; name at least one, as table.column")
        keys = self._joins.find(tuple(tables), part.joins)
        for key in keys:
            tables |= dict.fromkeys((key.table, key.target))
        description = " ".join(part.description.split())
        return Resolved(kind, name, description, phrases, read, limit, tuple(tables), keys)


def _read_texts(part: Measure | Dimension | Filter, dialect: str) -> tuple[str, str]:
    """The expression and the condition, each on one line. Raises Misfit."""
    if isinstance(part, Measure):
        return split_where(join_lines(part.expression), join_lines(part.filter), dialect)
    if isinstance(part, Dimension):
        return join_lines(part.expression), ""
    return "", join_lines(part.condition)


def _is_in(catalog: Catalog) -> Callable[[str], bool]:
    def check(qualified: str) -> bool:
        table_name, _, column = qualified.rpartition(".")
        table = catalog.table(table_name)
        return table is not None and table.column(column) is not None

    return check
