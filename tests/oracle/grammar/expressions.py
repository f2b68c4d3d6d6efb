"""Expressions of a family, from the templates of a dialect and the columns in reach."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

from tests.oracle.grammar.dialect import Dialect
from tests.oracle.grammar.scope import Scope

_SLOT = re.compile(r"\{([a-z_]\w*)(?::(\w+))?(#\d)?\}")
_ALIKE = (
    "coalesce({F}, {F})",
    "coalesce({F}, {F}, {F})",
    "nullif({F}, {F})",
    "CASE WHEN {bool} THEN {F} ELSE {F} END",
    "CASE WHEN {bool} THEN {F} WHEN {bool} THEN {F} END",
    "CASE {text} WHEN {text} THEN {F} ELSE {F} END",
    "({one:F})",
    "({F})",
)
_GREATEST = ("greatest({F}, {F})", "least({F}, {F}, {F})")
_NOT_COMPARED = ("json",)
_MOST_COLUMNS = 30
_RARE = 0.01
# How often a family is drawn: this much and one for each template, some for each aggregate.
_FAMILY = 10
_AGGREGATES = 10
_SLIP = 0.2


class Queries(Protocol):
    """Writes the queries within expressions."""

    def write_column(self, families: Sequence[str], scope: Scope, depth: int, most: str) -> str:
        """A query with columns of these families, of at most one row where ``most`` says so."""
        ...

    def write_any(self, scope: Scope, depth: int) -> str:
        """Any query."""
        ...


class Expressions:
    """``slips`` is how often a query's expressions give way to a name that means something else.

    One or two are enough: the guard refuses a query for any one that it sees through.
    """

    def __init__(self, dialect: Dialect, rng: random.Random, queries: Queries) -> None:
        self._dialect = dialect
        self._rng = rng
        self._queries = queries
        self.slips = 0
        self.hidden: Sequence[str] = ()
        self.rare: frozenset[str] = frozenset()
        self._uses = Counter[str]()
        self._aggregates = {template for group in dialect.aggregates.values() for template in group}
        self._windows = {template for group in dialect.windows.values() for template in group}
        self._templates: Mapping[str, Sequence[str]] = {
            family: (*own, *_list_alike(family, dialect))
            for family, own in dialect.expressions.items()
        }
        self._slots: Mapping[str, Callable[[str, Scope, int], str]] = {
            "any": lambda _, scope, depth: self.write(self.draw_family(scope), scope, depth),
            "rows": lambda family, scope, depth: self._write_query([family], scope, depth, ""),
            "one": lambda family, scope, depth: self._write_query([family], scope, depth, "one"),
            "rows2": lambda _, scope, depth: self._write_query(["int", "text"], scope, depth, ""),
            "one2": lambda _, scope, depth: self._write_query(["int", "text"], scope, depth, "one"),
            "exists": lambda _, scope, depth: self._queries.write_any(scope.open(), depth),
            "n": lambda *_: str(self._rng.randint(1, 9)),
            "row": lambda _, scope, depth: self._name_row(scope),
            "row2": lambda _, scope, depth: (
                f"({self.write('int', scope, depth)}, {self.write('text', scope, depth)})"
            ),
            "total": lambda _, scope, depth: self.write_total(scope),
            "over": lambda _, scope, depth: self._write_window(scope, depth, ""),
            "windowed": lambda _, scope, depth: self._write_window(scope, depth, "total"),
            "frame": lambda _, scope, depth: self._write_window(scope, depth, "frame"),
            "named": lambda _, scope, depth: scope.named or "()",
            "window": lambda _, scope, depth: scope.named,
        }

    def write(self, family: str, scope: Scope, depth: int) -> str:
        """An expression of the family that ``scope`` can evaluate."""
        roll = self._rng.random()
        if self.slips and roll < _SLIP:
            self.slips -= 1
            return self._slip(scope)
        if depth <= 0 or roll < 0.35:
            return self.write_leaf(family, scope)
        choices = self._templates[family]
        if scope.grouped is not None and self._rng.random() < 0.5:
            choices = self._dialect.aggregates.get(family) or choices
        elif scope.windows and self._rng.random() < 0.25:
            choices = self._dialect.windows.get(family) or choices
        if not choices:
            return self.write_leaf(family, scope)
        return self.expand(self.choose(choices), scope, depth)

    def choose(self, choices: Sequence[str]) -> str:
        """Draws one, half of the time the one least used so far; rare templates rarely."""
        chosen = self._rng.choice(choices)
        if self._rng.random() < 0.5:
            chosen = min(choices, key=lambda choice: (choice in self.rare, self._uses[choice]))
        for _ in range(4):
            if chosen not in self.rare or self._rng.random() < _RARE:
                break
            chosen = self._rng.choice(choices)
        self._uses[chosen] += 1
        return chosen

    def list_templates(self) -> Iterator[str]:
        """All templates and all literals."""
        for group in (self._templates, self._dialect.aggregates, self._dialect.windows):
            for templates in group.values():
                yield from templates
        for literals in self._dialect.literals.values():
            yield from literals

    def expand(self, template: str, scope: Scope, depth: int) -> str:
        """A template with its slots filled."""
        if template in self._aggregates:
            scope = scope.open()
        elif template in self._windows:
            scope = Scope(
                scope.parent, scope.sources, scope.grouped, scope.merged, named=scope.named
            )
        known: dict[str, str] = {}

        def fill(match: re.Match[str]) -> str:
            if match[0] in known:
                return known[match[0]]
            if match[1] in self._slots:
                text = self._slots[match[1]](match[2] or "int", scope, depth - 1)
            elif match[1] in self._templates:
                text = self._protect(self.write(match[1], scope, depth - 1))
            else:
                # Part of a literal, such as an array's.
                return match[0]
            if match[3]:
                known[match[0]] = text
            return text

        return _SLOT.sub(fill, template)

    def write_leaf(self, family: str, scope: Scope) -> str:
        """A column, sometimes one of an outer query, or a literal."""
        level, inner = scope, set[str]()
        while level.parent is not None and self._rng.random() < 0.15:
            inner |= level.names | {name for source in level.sources for name, _ in source.columns}
            level = level.parent
        columns = [
            column for column in level.list_columns(family) if column.partition(".")[0] not in inner
        ]
        if columns and self._rng.random() < 0.85:
            return self._rng.choice(columns)
        literals = self._dialect.literals[family]
        if not literals:
            return f"CAST(NULL AS {self._dialect.casts[family]})"
        return self.choose(literals)

    def write_total(self, scope: Scope) -> str:
        """All columns: an order by them is total."""
        if scope.grouped is not None:
            columns = [text for group in scope.grouped.values() for text in group]
        else:
            columns = [
                f"{source.name}.{name}"
                for source in scope.sources
                for name, family in source.columns
                if name and source.name and family not in _NOT_COMPARED
            ]
        if not columns:
            return "NULL"
        return ", ".join(columns[:_MOST_COLUMNS])

    def draw_family(self, scope: Scope) -> str:
        """Draws a family, in proportion to the number of its templates."""
        groups = [self._templates]
        if scope.grouped is not None:
            groups += [self._dialect.aggregates] * _AGGREGATES
        weights = [
            _FAMILY + sum(len(group.get(kind, ())) for group in groups) if own else 0
            for kind, own in self._templates.items()
        ]
        return self._rng.choices(list(self._templates), weights)[0]

    # -- parts ---------------------------------------------------------------------------------

    def _protect(self, text: str) -> str:
        """The text, in parentheses where an operator around it would bind to a part of it."""
        return text if re.fullmatch(r"[\w.\"]+|'[^']*'|\w+\([^()]*\)", text) else f"({text})"

    def _write_query(self, families: Sequence[str], scope: Scope, depth: int, most: str) -> str:
        return self._queries.write_column(families, scope, min(depth, 2), most)

    def _write_window(self, scope: Scope, depth: int, form: str) -> str:
        depth = min(depth, 1)
        parts = []
        if self._rng.random() < 0.6:
            parts.append(f"PARTITION BY {self.write(self.draw_plain(), scope, depth)}")
        order = self.write_total(scope)
        if form == "" and self._rng.random() < 0.7:
            order = self.write(self.draw_plain(), scope, depth)
        parts.append(f"ORDER BY {order}{self._rng.choice(self._dialect.sortings)}")
        if form == "frame":
            parts.append(self.choose(self._dialect.frames))
        return f"({' '.join(parts)})"

    def draw_plain(self) -> str:
        """A family that every database can sort and group by."""
        return self._rng.choice(("int", "num", "text", "date"))

    def _name_row(self, scope: Scope) -> str:
        if scope.grouped is not None:
            return self.write_leaf("int", scope)
        names = sorted(scope.names)
        return self._rng.choice(names) if names else "ROW(1, 2)"

    def _slip(self, scope: Scope) -> str:
        """A name that does not mean what it seems to mean, or means nothing."""
        rng, dangerous = self._rng, self._rng.choice(self._dialect.dangerous)
        level = scope
        while level.parent is not None and rng.random() < 0.2:
            level = level.parent
        sources = [source for source in level.sources if source.name]
        if not sources or rng.random() < 0.15:
            return rng.choice(self._dialect.traps)
        source = rng.choice([source for source in sources if source.lost] or sources)
        lost = rng.choice(source.lost) if source.lost else dangerous
        own = rng.choice(source.columns)[0] if source.columns else lost
        other = rng.choice(sources).name
        return rng.choice(
            (
                *([f"{source.name}.{lost}"] * (5 if source.lost else 1)),
                lost,
                f"{source.name}.{source.name}",
                f"{source.name}.{source.name}",
                f"{source.name}.{dangerous}",
                f"({source.name}).{own or lost}",
                f"({source.name}).{dangerous}",
                f"{dangerous}({source.name})",
                f"{other}.{own or lost}",
                f"{source.table}.{own}" if source.table else f"{other}.{lost}",
                f"{source.name}.{rng.choice(('ctid', 'xmin', 'tableoid', 'rowid', 'oid'))}",
                source.name,
                f"{source.name}.*",
                f"{source.name}.{rng.choice(self.hidden)}" if self.hidden else lost,
            )
        )


def _list_alike(family: str, dialect: Dialect) -> tuple[str, ...]:
    templates: tuple[str, ...] = (*_ALIKE, *_GREATEST)
    if dialect.name == "sqlite":
        templates = _ALIKE
    if family in _NOT_COMPARED:
        templates = tuple(template for template in _ALIKE if "nullif" not in template)
    if not dialect.expressions[family]:
        return ()
    return tuple(
        template.replace("{F}", f"{{{family}}}").replace(":F}", f":{family}}}")
        for template in templates
    )
