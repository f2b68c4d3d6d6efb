"""Reads the SQL of definitions and finds their tables, columns and joins in a catalog.

Joins are the declared foreign keys between the tables, or written ones. A definition that does not
fit the catalog gives problems instead. The text of a definition is kept as the user wrote it, apart
from the names of its tables, which are written as the catalog of a principal resolves them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp

from nl2sql.catalog import Catalog, ForeignKey
from nl2sql.sql.nodes import list_conjuncts
from nl2sql.types import Definition, DefinitionKind
from nl2sql.words import content_words
from retrieval.joins.planner import JoinGraph, write_path
from retrieval.semantics.semantics_file import (
    Dimension,
    Filter,
    Measure,
    Problem,
    SemanticsFile,
)
from retrieval.semantics.sql_parts import (
    DefinitionColumns,
    SqlPart,
    UnusableDefinition,
    join_lines,
    read_condition,
    read_expression,
)

# The keys of a definition that are wrong.
_PLACE = ("joins",)


# Other words that may stand between those of a name.
_MOST_BETWEEN = 2


@dataclass(frozen=True, slots=True)
class DefinedPhrase:
    """A name or synonym, as the file spells it, and its folded words."""

    text: str
    words: tuple[str, ...]


def read_phrases(texts: Iterable[str]) -> tuple[DefinedPhrase, ...]:
    """The phrases of a definition, without those that have only function words.

    >>> read_phrases(["Open orders", "the"])
    (DefinedPhrase(text='Open orders', words=('open', 'order')),)
    """
    phrases = (DefinedPhrase(text, tuple(content_words(text))) for text in texts)
    return tuple({phrase.words: phrase for phrase in phrases if phrase.words}.values())


def find_phrase(phrase: DefinedPhrase, asked: Sequence[str]) -> frozenset[int] | None:
    """The positions of the phrase's words among the question's; None if it is not there.

    >>> asked = content_words("How many customers are still active in sunny Italy?")
    >>> sorted(find_phrase(DefinedPhrase("", ("active", "customer")), asked))
    [0, 2]
    >>> find_phrase(DefinedPhrase("", ("customer", "italy")), asked)
    """
    wanted = set(phrase.words)
    width = len(wanted) + (_MOST_BETWEEN if len(wanted) > 1 else 0)
    if not wanted.issubset(asked):
        return None
    best: frozenset[int] | None = None
    for start, first in enumerate(asked):
        if first not in wanted:
            continue
        places: dict[str, int] = {}
        for position in range(start, min(len(asked), start + width)):
            if asked[position] in wanted:
                places.setdefault(asked[position], position)
        if len(places) == len(wanted):
            span = frozenset(places.values())
            if best is None or max(span) - min(span) < max(best) - min(best):
                best = span
    return best


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
    phrases: tuple[DefinedPhrase, ...]
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
        seen = [table for name in self.tables if (table := catalog.table(name))]
        shown = {f"{table.qualified}.{column.name}" for table in seen for column in table.columns}
        if not shown.issuperset(columns):
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
        except UnusableDefinition as misfit:
            problems.append(Problem((*place, *misfit.place), str(misfit)))
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
    """Finds what definitions read in one catalog. Every method raises UnusableDefinition."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._dialect = catalog.dialect
        self._columns = DefinitionColumns(catalog)

    @cached_property
    def _graph(self) -> JoinGraph:
        whole = [table.qualified for table in self._catalog.tables]
        return JoinGraph(whole, self._catalog.foreign_keys)

    def resolve(
        self, kind: DefinitionKind, name: str, part: Measure | Dimension | Filter
    ) -> Resolved:
        phrases = read_phrases((name, *part.synonyms))
        if not phrases:
            raise UnusableDefinition(
                'its name has only words such as "the" and "how many"; choose another'
            )
        read, limit = SqlPart(), SqlPart()
        if isinstance(part, Measure | Dimension):
            text = join_lines(part.expression)
            tree = read_expression(text, kind, self._dialect)
            read = self._columns.read(text, tree, ("expression",))
        if isinstance(part, Filter):
            limit = self._read_condition(part.condition, "condition")
        elif isinstance(part, Measure) and part.filter:
            limit = self._read_condition(part.filter, "filter")
        tables = dict.fromkeys(found.table.qualified for found in (*read.names, *limit.names))
        if not tables:
            raise UnusableDefinition("it reads no column; name at least one, as table.column")
        keys = self._find_joins(tuple(tables), part.joins)
        for key in keys:
            tables |= dict.fromkeys((key.table, key.target))
        description = " ".join(part.description.split())
        return Resolved(kind, name, description, phrases, read, limit, tuple(tables), keys)

    def _read_condition(self, written: str, key: str) -> SqlPart:
        text = join_lines(written)
        return self._columns.read(text, read_condition(text, self._dialect, (key,)), (key,))

    def _find_joins(self, tables: Sequence[str], written: Iterable[str]) -> tuple[ForeignKey, ...]:
        """The keys that connect the tables: the ``written`` ones, or else the declared ones."""
        if keys := tuple(map(self._read_join, written)):
            every = sorted({*tables, *(name for key in keys for name in (key.table, key.target))})
            if len(JoinGraph(every, keys).components()) > 1:
                raise UnusableDefinition(f"they do not connect {' and '.join(every)}", _PLACE)
            if len(every) != len(keys) + 1:
                raise UnusableDefinition(
                    "they join a table twice; write one join for each further table", _PLACE
                )
            return keys
        if len(tables) < 2:
            return ()
        best = self._graph.connect(tables)
        if not best:
            raise UnusableDefinition(
                f"no foreign keys connect {' and '.join(tables)}; write how under joins, as "
                "[a.x = b.y]",
                _PLACE,
            )
        if not self._graph.is_only_way(tables, best):
            raise UnusableDefinition(
                f"foreign keys connect {' and '.join(tables)} in several ways; write the one that "
                "is meant under joins, as [a.x = b.y]",
                _PLACE,
            )
        return tuple(self._graph.keys[at] for at in sorted(best))

    def _read_join(self, text: str) -> ForeignKey:
        """``a.x = b.y`` as a key from a to b."""
        sources, targets = [], []
        for pair in list_conjuncts(read_condition(text, self._dialect, _PLACE)):
            sides = [pair.this, pair.args.get("expression")] if isinstance(pair, exp.EQ) else []
            columns = [side for side in sides if isinstance(side, exp.Column)]
            if len(columns) != 2:
                raise UnusableDefinition(f"{text}: write a.x = b.y, more pairs with AND", _PLACE)
            sources.append(self._columns.find(columns[0], _PLACE))
            targets.append(self._columns.find(columns[1], _PLACE))
        near, far = ({table.qualified for table, _ in side} for side in (sources, targets))
        if len(near) != 1 or len(far) != 1 or near == far:
            raise UnusableDefinition(f"{text}: it must compare columns of two tables", _PLACE)
        return ForeignKey(
            "",
            near.pop(),
            tuple(column.name for _, column in sources),
            far.pop(),
            tuple(column.name for _, column in targets),
        )
