"""The possible FROM clauses and their columns: one scope for each kind of FROM.

A context-free grammar cannot relate a column in the select list to the FROM after it. Therefore
each FROM has its own rules, as far as their number stays small: every single table; every pair of
tables that a key joins, as T1 and T2; and three loose scopes for more tables: by table name, by the
tables' initials, and by T1 to T6, where any column may follow any number. Joins use only keys:
declared, inferred, or columns of the same name of which one is in a primary key. A table without
any key is joined on any two columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from generation.grammar.ebnf import RuleBook, any_of, quote
from nl2sql.catalog import Table
from nl2sql.sql.names import fold_name, quote_name
from nl2sql.types import SchemaContext

_MOST_JOINS = 5
# With more scopes, compiling and sampling would take seconds; then T1 and T2 are loose too.
_MOST_PAIRS = 12
_NUMBERS = tuple(f"T{number}" for number in range(1, _MOST_JOINS + 2))


@dataclass(frozen=True, slots=True)
class Scope:
    """A FROM clause: the rule bodies of its ``source`` and its ``columns``.

    ``is_numbered``: its tables have the aliases T1, T2 and so on.
    """

    name: str
    source: str
    columns: str
    is_numbered: bool = False


@dataclass(frozen=True, slots=True)
class _Side:
    """A table in the grammar, with its SQL name, its initials and its visible columns."""

    table: Table
    name: str
    columns: tuple[str, ...]
    initials: str
    rule: str

    @property
    def prefixes(self) -> tuple[str, ...]:
        """The names that qualify its columns if it has no alias."""
        return tuple(dict.fromkeys((self.name, self.name.rpartition(".")[2])))


@dataclass(frozen=True, slots=True)
class _Join:
    """Two tables by number, and the pairs of columns that must be equal; empty means any pair."""

    left: int
    right: int
    pairs: tuple[tuple[str, str], ...]

    def turn(self) -> _Join:
        """The join with its sides exchanged."""
        return _Join(self.right, self.left, tuple((other, mine) for mine, other in self.pairs))


def build_scopes(
    book: RuleBook, context: SchemaContext, shown: dict[str, tuple[str, ...]]
) -> tuple[Scope, ...]:
    """All scopes of the context, and the rules of its columns.

    ``shown`` maps a table (``schema.table``) to its columns, if not all are shown.
    """
    sides = _read_sides(context, shown)
    for side in sides:
        book.add(
            side.rule, any_of(quote(quote_name(column, context.dialect)) for column in side.columns)
        )
    joins = _find_joins(context, sides)
    pairs = tuple(_build_pairs(book, sides, joins, context.dialect))
    has_room = len(pairs) <= _MOST_PAIRS
    return (
        *(_build_single(book, side) for side in sides),
        *(pairs if has_room else ()),
        *_build_loose(book, sides, joins, context.dialect, least=2 if has_room else 1),
    )


def _read_sides(context: SchemaContext, shown: dict[str, tuple[str, ...]]) -> tuple[_Side, ...]:
    sides = []
    for number, (hit, name) in enumerate(zip(context.tables, context.names, strict=True)):
        columns = shown.get(hit.table.qualified) or tuple(
            column.name for column in hit.table.columns
        )
        if columns:
            sides.append(_Side(hit.table, name, columns, _shorten(hit.table.name), f"c{number}"))
    return tuple(sides)


def _shorten(name: str) -> str:
    """The initials of a table's name.

    >>> _shorten("fixed_assets"), _shorten("Orders")
    ('fa', 'o')
    """
    return "".join(word[0] for word in name.lower().split("_") if word[:1].isalpha()) or "t"


def _find_joins(context: SchemaContext, sides: Sequence[_Side]) -> tuple[_Join, ...]:
    places = {side.table.qualified: number for number, side in enumerate(sides)}
    joins: dict[_Join, None] = {}
    for key in context.foreign_keys:
        if key.table in places and key.target in places:
            left, right = places[key.table], places[key.target]
            pairs = tuple(zip(key.columns, key.target_columns, strict=True))
            joins[_Join(left, right, pairs)] = None
    for left, side in enumerate(sides):
        for right in range(left + 1, len(sides)):
            joins.update(
                (_Join(left, right, ((mine, other),)), None)
                for mine, other in _find_same(side, sides[right], context.dialect)
            )
    known = {number for join in joins for number in (join.left, join.right)}
    for left in range(len(sides)):
        for right in range(left + 1, len(sides)):
            if not known.issuperset((left, right)):
                joins[_Join(left, right, ())] = None
    return tuple(joins)


def _find_same(left: _Side, right: _Side, dialect: str) -> Iterator[tuple[str, str]]:
    """Columns of the same name and type, in the primary key of one table and not of the other."""
    keys = [
        {fold_name(column, dialect) for column in side.table.primary_key} for side in (left, right)
    ]
    others = {fold_name(column, dialect): column for column in right.columns}
    for column in left.columns:
        folded = fold_name(column, dialect)
        if folded not in others or (folded in keys[0]) == (folded in keys[1]):
            continue
        if _read_type(left.table, column) == _read_type(right.table, others[folded]):
            yield column, others[folded]


def _read_type(table: Table, column: str) -> str:
    found = table.column(column)
    return found.type.lower() if found else ""


def _build_single(book: RuleBook, side: _Side) -> Scope:
    aliases = dict.fromkeys(("T1", "t1", side.initials, side.initials[0]))
    prefixes = (*side.prefixes, *aliases)
    return Scope(
        name=f"s{side.rule}",
        source=f"{quote(side.name)} (ws {_as(book)} {any_of(map(quote, aliases))})?",
        columns=f"({any_of(quote(f'{prefix}.') for prefix in prefixes)})? {side.rule}",
    )


def _build_pairs(
    book: RuleBook, sides: Sequence[_Side], joins: Sequence[_Join], dialect: str
) -> Iterator[Scope]:
    """Two tables as T1 and T2, in either order."""
    ordered: dict[tuple[int, int], list[_Join]] = {}
    for join in (*joins, *(join.turn() for join in joins)):
        ordered.setdefault((join.left, join.right), []).append(join)
    for (left, right), found in ordered.items():
        first, second = sides[left], sides[right]
        on = any_of(_equal(first, second, ("T1",), ("T2",), join, dialect) for join in found)
        yield Scope(
            name=f"p{first.rule}{second.rule}",
            source=f'{quote(first.name)} ws {_as(book)} "T1" ws {_join(book)} ws '
            f'{quote(second.name)} ws {_as(book)} "T2" ws {book.word("ON")} ws {on}',
            columns=any_of(
                [
                    f'"T1." {first.rule}',
                    f'"T2." {second.rule}',
                    *_bare((first, second), dialect),
                ]
            ),
            is_numbered=True,
        )


def _build_loose(
    book: RuleBook,
    sides: Sequence[_Side],
    joins: Sequence[_Join],
    dialect: str,
    *,
    least: int,
) -> Iterator[Scope]:
    """Two or more tables by name or initials; by number with at least ``least`` joins."""
    if not joins:
        return
    bare = _bare(sides, dialect)
    plain = [side.prefixes for side in sides]
    initials = [(side.initials,) for side in sides]
    for name, prefixes, is_alias in (("names", plain, False), ("initials", initials, True)):
        yield Scope(
            name=name,
            source=_chain(book, sides, joins, prefixes, dialect, is_alias=is_alias),
            columns=any_of(
                [
                    *(
                        f"{_spell(names)} {side.rule}"
                        for side, names in zip(sides, prefixes, strict=True)
                    ),
                    *bare,
                ]
            ),
        )
    any_column = book.add("c_any", any_of(side.rule for side in sides))
    numbered = f"{any_of(quote(side.name) for side in sides)} ws {_as(book)}"
    numbered += f" {any_of(map(quote, _NUMBERS))}"
    on = any_of(
        _equal(sides[join.left], sides[join.right], _NUMBERS, _NUMBERS, join, dialect)
        for join in joins
    )
    step = f"ws {_join(book)} ws {numbered} ws {book.word('ON')} ws {on}"
    yield Scope(
        name="numbers",
        source=f"{numbered} ({step}){{{least},{_MOST_JOINS}}}",
        columns=any_of([f"{_spell(_NUMBERS)} {any_column}", *bare]),
        is_numbered=True,
    )


def _chain(
    book: RuleBook,
    sides: Sequence[_Side],
    joins: Sequence[_Join],
    prefixes: Sequence[tuple[str, ...]],
    dialect: str,
    *,
    is_alias: bool,
) -> str:
    """A table, and others that are joined on their keys."""

    def name(side: _Side) -> str:
        alone = quote(side.name)
        return f"{alone} ws {_as(book)} {quote(side.initials)}" if is_alias else alone

    conditions: dict[int, list[str]] = {}
    for join in joins:
        left, right = join.left, join.right
        on = _equal(sides[left], sides[right], prefixes[left], prefixes[right], join, dialect)
        conditions.setdefault(left, []).append(on)
        conditions.setdefault(right, []).append(on)
    steps = any_of(
        f"({name(sides[number])} ws {book.word('ON')} ws {any_of(found)})"
        for number, found in conditions.items()
    )
    first = any_of(map(name, sides))
    return f"{first} (ws {_join(book)} ws {steps}){{1,{_MOST_JOINS}}}"


def _equal(
    left: _Side,
    right: _Side,
    prefixes: tuple[str, ...],
    others: tuple[str, ...],
    join: _Join,
    dialect: str,
) -> str:
    """``T1.a = T2.b AND …``, with the sides of each equation in either order."""
    one, two = _spell(prefixes), _spell(others)
    if not join.pairs:
        return _turned(f"{one} {left.rule}", f"{two} {right.rule}")
    return " ws k_and ws ".join(
        _turned(
            f"{one} {quote(quote_name(mine, dialect))}",
            f"{two} {quote(quote_name(other, dialect))}",
        )
        for mine, other in join.pairs
    )


def _turned(one: str, two: str) -> str:
    return f'(({one} ow "=" ow {two}) | ({two} ow "=" ow {one}))'


def _spell(prefixes: tuple[str, ...]) -> str:
    return any_of(quote(f"{prefix}.") for prefix in prefixes)


def _bare(sides: Sequence[_Side], dialect: str) -> list[str]:
    """Columns that only one of the tables has, so that they need not be qualified."""
    found: dict[str, list[str]] = {}
    for side in sides:
        for column in side.columns:
            found.setdefault(fold_name(column, dialect), []).append(column)
    return [quote(quote_name(names[0], dialect)) for names in found.values() if len(names) == 1]


def _as(book: RuleBook) -> str:
    return f"({book.word('AS')} ws)?"


def _join(book: RuleBook) -> str:
    return book.any_word("join", ("JOIN", "INNER JOIN", "LEFT JOIN", "LEFT OUTER JOIN"))
