"""Suggests questions about a database, from what the principal may see of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from nl2sql.catalog import Table
from nl2sql.sql.column_kinds import find_kind
from nl2sql.types import Definition, SchemaContext
from nl2sql.words import fold_plural, split_words

_MOST_NAMES = 5
# Between the words of a name such as MediaType.
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_AFTER_NOUN = re.compile(r" (?:(?:of|per|in|by|for|to|from|at|on|with) .*|\w+ed|sold|paid|lost)$")
_CONSONANT_Y = re.compile(r"[^aeiou]y$")


def describe_subjects(context: SchemaContext) -> str:
    """The modules, if there are several, and some of the tables."""
    tables = _list_up(
        [say_name(name) for name in context.names[:_MOST_NAMES]], context.catalog_tables
    )
    if len(context.modules) < 2:
        return tables
    modules = [say_name(name) for name in context.modules]
    return f"{_list_up(modules[:_MOST_NAMES], len(modules))}; for example {tables}"


def suggest_questions(context: SchemaContext, count: int = 2) -> tuple[str, ...]:
    """Questions that somebody would ask: of definitions, then of tables with keys and dates.

    Tables of events come first: those that refer to many others.
    """
    questions = [*_ask_definitions(context.definitions), *_ask_tables(context)]
    return tuple(dict.fromkeys(questions))[:count]


def _ask_definitions(definitions: Iterable[Definition]) -> Iterator[str]:
    """Every measure once, in turn by itself and by a dimension that it can be grouped by."""
    known = tuple(definitions)
    dimensions = [each for each in known if each.kind == "dimension"]
    for number, measure in enumerate(each for each in known if each.kind == "measure"):
        asked = f"What {'are' if _is_many(measure.name) else 'is'} the {measure.name}"
        near = [each for each in dimensions if set(each.tables) & set(measure.tables)]
        if near and number % 2:
            dimension = near[number // 2 % len(near)]
            yield f"{asked} by {dimension.name}?"
        else:
            yield f"{asked}?"
    for condition in (each for each in known if each.kind == "filter"):
        yield f"How many {condition.name} are there?"


def _is_many(name: str) -> bool:
    """Whether the noun of a measure's name is a plural.

    >>> [_is_many(each) for each in ("units sold", "sales in EUR", "number of orders", "sales tax")]
    [True, True, False, False]
    """
    noun = _AFTER_NOUN.sub("", name.lower())
    return fold_plural(noun) != noun


def _ask_tables(context: SchemaContext) -> Iterator[str]:
    """In rounds over the tables: who has most of their rows, how many by year, how many."""
    leaving = Counter(key.table for key in context.foreign_keys)
    tables = {hit.table.qualified: hit.table for hit in context.tables if _is_sayable(hit.table)}
    order = sorted(tables.values(), key=lambda table: -leaving[table.qualified])
    asking = (_ask_most, _ask_years, _ask_count)
    for turn in range(len(asking)):
        # Each table begins with another question, so that the first ones differ.
        for place, table in enumerate(order):
            if question := asking[(place + turn) % len(asking)](table, tables, context):
                yield question


def _ask_most(table: Table, tables: Mapping[str, Table], context: SchemaContext) -> str:
    """Which customer has the most orders? Over the first key to a table with names."""
    for key in context.foreign_keys:
        target = tables.get(key.target)
        if (
            key.table == table.qualified != key.target
            and target is not None
            and _has_name(target, context.dialect)
        ):
            one, many = say_name(target.name, plural=False), say_name(table.name, plural=True)
            return f"Which {one} has the most {many}?"
    return ""


def _ask_years(table: Table, tables: Mapping[str, Table], context: SchemaContext) -> str:
    """How many orders were there each year? Only where every row has a date."""
    is_dated = any(
        find_kind(column.type, context.dialect) in ("date", "timestamp") and not column.nullable
        for column in table.columns
    )
    return f"How many {say_name(table.name, plural=True)} were there each year?" if is_dated else ""


def _ask_count(table: Table, tables: Mapping[str, Table], context: SchemaContext) -> str:
    return f"How many {say_name(table.name, plural=True)} are there?"


def _has_name(table: Table, dialect: str) -> bool:
    """Whether a text column tells its rows apart for people: name, title, last_name."""
    return any(
        split_words(column.name)[-1:] in (["name"], ["title"], ["label"])
        and find_kind(column.type, dialect) == "text"
        for column in table.columns
    )


def _is_sayable(table: Table) -> bool:
    """Whether the name consists of words instead of codes."""
    words = split_words(table.name)
    return bool(words) and all(word.isalpha() and len(word) > 2 for word in words)


def say_name(name: str, *, plural: bool | None = None) -> str:
    """The words of a name, as it is, in the plural or in the singular.

    >>> say_name("order_lines"), say_name("order_lines", plural=False)
    ('order lines', 'order line')
    >>> say_name("Singer", plural=True), say_name("MediaType", plural=False)
    ('singers', 'media type')
    >>> say_name("salary", plural=True), say_name("payments_made", plural=True)
    ('salaries', 'payments made')
    """
    apart = _CAMEL.sub(" ", name.rsplit(".", 1)[-1].replace("_", " "))
    words = " ".join(apart.split()).strip('"')
    if plural is None:
        return words
    *rest, last = words.lower().split() or [""]
    folded = split_words(last)[-1] if last.isascii() and last.isalpha() else last
    is_done = last.endswith(("ed", "made")) and " ".join(rest).endswith("s")
    is_plural = folded != last or last.endswith("s") or is_done
    many = last if is_plural else _pluralize(last)
    return " ".join((*rest, many if plural else folded))


def _pluralize(singular: str) -> str:
    if singular.endswith(("x", "z", "ch", "sh")):
        return f"{singular}es"
    return f"{singular[:-1]}ies" if _CONSONANT_Y.search(singular) else f"{singular}s"


def _list_up(names: Iterable[str], total: int) -> str:
    """The distinct names with commas, and "and more" if ``total`` is larger."""
    shown = list(dict.fromkeys(names))
    return ", ".join(shown) + (" and more" if total > len(shown) else "")
