"""Suggests questions about a database, from the tables that the principal may see."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from nl2sql.catalog import Table
from nl2sql.sql.column_kinds import find_kind
from nl2sql.types import SchemaContext
from nl2sql.words import split_words

_MOST_NAMES = 5


def describe_subjects(context: SchemaContext) -> str:
    """The modules, if there are several, and some of the tables."""
    tables = _list_up([_say(name) for name in context.names[:_MOST_NAMES]], context.catalog_tables)
    if len(context.modules) < 2:
        return tables
    modules = [_say(name) for name in context.modules]
    return f"{_list_up(modules[:_MOST_NAMES], len(modules))}; for example {tables}"


def suggest_questions(context: SchemaContext, count: int = 2) -> tuple[str, ...]:
    """Questions that the tables can answer, first about tables that many others refer to."""
    referred = Counter(key.target for key in context.foreign_keys)
    tables = sorted(
        (hit.table for hit in context.tables if _is_sayable(hit.table)),
        key=lambda table: -referred[table.qualified],
    )
    questions: list[str] = []
    for table in tables:
        column = _find_label(table, context.dialect)
        # Counting and listing alternate.
        if len(questions) % 2 and column:
            questions.append(
                f"What is the {_say(column)} of each {_say(table.name, plural=False)}?"
            )
        else:
            questions.append(f"How many {_say(table.name, plural=True)} are there?")
        if len(questions) == count:
            break
    return tuple(questions)


def _is_sayable(table: Table) -> bool:
    """Whether the name consists of words instead of codes."""
    words = split_words(table.name)
    return bool(words) and all(word.isalpha() and len(word) > 2 for word in words)


def _find_label(table: Table, dialect: str) -> str:
    """The first text column whose name is a word and that is not a key."""
    return next(
        (
            column.name
            for column in table.columns
            if column.name not in table.primary_key
            and find_kind(column.type, dialect) == "text"
            and not column.name.lower().endswith(("_id", "id"))
            and column.name.replace("_", "").replace(" ", "").isalpha()
        ),
        "",
    )


def _say(name: str, *, plural: bool | None = None) -> str:
    """The words of a name.

    >>> _say("order_lines"), _say("order_lines", plural=False), _say("Singer", plural=True)
    ('order lines', 'order line', 'singers')
    """
    words = " ".join(name.rsplit(".", 1)[-1].replace("_", " ").split()).strip('"')
    if plural is None:
        return words
    *rest, last = words.lower().split() or [""]
    folded = split_words(last)[-1] if last.isascii() and last.isalpha() else last
    is_plural = folded != last or last.endswith("s")
    many = last if is_plural else f"{last}s"
    return " ".join((*rest, many if plural else folded))


def _list_up(names: Iterable[str], total: int) -> str:
    """The distinct names with commas, and "and more" if ``total`` is larger."""
    shown = list(dict.fromkeys(names))
    return ", ".join(shown) + (" and more" if total > len(shown) else "")
