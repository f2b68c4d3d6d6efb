"""What a reader should know of a result: why it is empty, which rows and questions it leaves out.

The database is asked by separate queries, guarded for the same principal as the candidate, so that
they tell nothing which the principal could not ask for. What fails, takes too long or is refused is
not mentioned.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from itertools import chain, islice

from sqlglot import exp

from nl2sql.concurrency import gather_all
from nl2sql.expectations.expectations import read_expectations
from nl2sql.protocols import Executor, Guard
from nl2sql.sql.column_kinds import TEXTS, TIMES
from nl2sql.sql.names import enquote
from nl2sql.types import ExecutionLimits, GuardedQuery, Question, ResultSet
from ranking.conditions import list_conditions
from ranking.lint.outputs import is_of_row, split_outputs
from ranking.query import ColumnUse, Query, find_output

_MOST_PROBES = 4
_MOST_READ = 100_000
_MOST_CHARS = 100
# A number so many times as large as all of its column has another unit.
_MOST_TIMES = 10
_LIMITS = ExecutionLimits(timeout_ms=1000, result_bytes=4096)
_ORDERINGS = (exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between)
_COMPARISONS = (exp.EQ, *_ORDERINGS, exp.In, exp.Like)
_NUMBERS = (int, float, Decimal)
_NUMBER = re.compile(r"[-+$€£]?\s?\d")
# Texts of these are in the order of what they mean: 2024-05-31, 2024, 0042.
_IN_ORDER = re.compile(r"\d{4}(?!\d)|0\d*\b(?![./-])")
_DAY = re.compile(r"(\d{4}-\d\d(?:-\d\d)?)(?:[ T]\d.*)?")
_DAY_FIRST = re.compile(r"\d{1,2}([./-])\d{1,2}\1\d{2,4}")


@dataclass(frozen=True, slots=True)
class Notes:
    """Sentences on a query; ``is_unstored``: a column has values, but none of the texts sought, a
    single day, or no number of the size sought.

    ``is_doubtful``: numbers or days that are texts are compared letter by letter, a text sought is
    also part of lists, or SQLite chose the row of which it shows a column.
    """

    sentences: tuple[str, ...] = ()
    is_unstored: bool = False
    is_doubtful: bool = False


async def write_notes(
    guard: Guard, executor: Executor, question: Question, query: Query, *, is_empty: bool
) -> Notes:
    """Notes on the query and its conditions. Raises Unavailable.

    ``is_empty``: it found nothing. Texts are looked for only then.
    """

    async def run(sql: str) -> ResultSet | None:
        verdict = await guard.guard(question.database, sql, question.principal)
        if not isinstance(verdict, GuardedQuery):
            return None
        found = await executor.execute(verdict, 1, _LIMITS)
        return found if isinstance(found, ResultSet) else None

    notes, dialect = [], query.dialect
    ordered = list(dict.fromkeys(list_ordered_texts(query)))[:_MOST_PROBES]
    spans = await gather_all(run(build_range(use, with_lengths=True)) for use in ordered)
    for use, found in zip(ordered, spans, strict=True):
        if found and is_misordered(*found.rows[0]):
            first, last = found.rows[0][:2]
            notes.append(
                f"{_name(use)} is a text, which is compared letter by letter: "
                f"{first!r} is its first value, {last!r} its last."
            )
    doubtful = bool(notes)
    if not is_empty:
        negated = list(dict.fromkeys(list_negated(query)))[:_MOST_PROBES]
        answers = await gather_all(run(build_probe(use, _is_null(use), dialect)) for use in negated)
        for use, found in zip(negated, answers, strict=True):
            if found is not None and found.rows:
                notes.append(f"Rows without a value in {_name(use)} are left out.")
        doubts = chain(list_group_probes(query), dict.fromkeys(list_part_probes(query)))
        probes = list(islice(doubts, _MOST_PROBES))
        answers = await gather_all(run(sql) for _, sql in probes)
        for (note, _), found in zip(probes, answers, strict=True):
            if found is not None and found.rows:
                doubtful = True
                notes.append(note.replace("…", repr(str(found.rows[0][0])[:_MOST_CHARS])))
        return Notes(tuple(notes), is_doubtful=doubtful)
    texts = list(dict.fromkeys(list_text_conditions(query)))
    missing = {use for use, _ in texts[:_MOST_PROBES]} - {use for use, _ in texts[_MOST_PROBES:]}
    texts = texts[:_MOST_PROBES]
    answers = await gather_all(run(build_probe(*each, dialect)) for each in texts)
    for (use, condition), found in zip(texts, answers, strict=True):
        if found is not None and not found.rows:
            notes.append(f"No row that you may see has {_describe(use, condition, dialect)}.")
        else:
            missing.discard(use)
    # An empty table says nothing about a text.
    filled = [run(build_probe(use, _is_null(use).not_(), dialect)) for use in missing]
    is_unstored = any(found is not None and found.rows for found in await gather_all(filled))
    numbers = dict(list_numbers(query))
    ranged = list(dict.fromkeys((*list_dates(query), *numbers)))[:_MOST_PROBES]
    ranges = await gather_all(run(build_range(use)) for use in ranged)
    for use, found in zip(ranged, ranges, strict=True):
        ends = found.rows[0] if found else ()
        first, last = map(_write_end, ends or ("", ""))
        if first and last:
            notes.append(f"{_name(use)} goes from {first} to {last} in what you may see.")
            # One day is that of an import, and has no periods to ask for.
            is_unstored |= use not in numbers and first == last
        sizes = [abs(float(end)) for end in ends if isinstance(end, _NUMBERS)]
        is_unstored |= bool(sizes) and numbers.get(use, 0) > _MOST_TIMES * max(sizes)
    return Notes(tuple(notes), is_unstored, doubtful)


def answers_part(question: str, query: Query) -> bool:
    """Whether the question seems to ask for more things than the query shows."""
    return 0 < len(query.outputs()) < read_expectations(question).parts


def list_negated(query: Query) -> Iterator[ColumnUse]:
    """The columns that must not have a value, and whose missing ones no condition mentions."""
    tested = {query.resolve(node.this) for node in query.find_all(exp.Is)}
    for node in query.find_all(exp.NEQ, exp.EQ, exp.In, exp.Like, exp.ILike):
        is_negated = isinstance(node, exp.NEQ) or isinstance(node.parent, exp.Not)
        if is_negated or node.args.get("negate"):
            use = query.resolve(node.this)
            if use is not None and use.column.nullable and use not in tested:
                yield use


def list_group_probes(query: Query) -> Iterator[tuple[str, str]]:
    """Notes on columns outside GROUP BY, which SQLite allows, if the query finds a varying group.

    Columns of one row are allowed.
    """
    select = query.outermost()
    group = select.args.get("group") if select and query.dialect == "sqlite" else None
    if select is None or group is None:
        return
    keys = [find_output(key, select) for key in group.expressions]
    rest = [output for output in select.expressions if output.unalias() not in keys]
    aggregates, bare = split_outputs(exp.select(*rest))
    if is_of_row(aggregates):
        return
    for column in bare:
        if column not in keys:
            probe = select.copy()
            for part in ("distinct", "order", "offset"):
                probe.set(part, None)
            varies = exp.Count(this=exp.Distinct(expressions=[column.copy()])) > 1
            note = f"{column.name} varies within a group: SQLite shows that of any row."
            yield note, probe.having(varies).limit(1).sql(query.dialect)


def list_part_probes(query: Query) -> Iterator[tuple[str, str]]:
    """Notes on texts that a column must equal, if the query finds a value with them in a list.

    It reads only the table's first rows, as no index helps.
    """
    conditions = list(list_text_conditions(query))
    searched = {use for use, condition in conditions if not isinstance(condition, exp.EQ)}
    for use, condition in conditions:
        text, sought = condition.expression.name, condition.expression.sql(query.dialect)
        if use in searched or not text or any(mark in text for mark in ",;|"):
            continue
        parts = value = condition.this.sql(query.dialect)
        for mark in (" | ", "|", "; ", ";", ", "):
            parts = f"REPLACE({parts}, '{mark}', ',')"
        part = exp.StrPosition(this=exp.column("_parts"), substr=exp.Literal.string(f",{text},"))
        column, table = enquote(use.column.name), enquote(use.table.schema, use.table.name)
        yield (
            f"{_name(use)} has {text!r} also in lists, as in …, which are left out.",
            f"SELECT {column} FROM (SELECT {column}, ',' || {parts} || ',' AS _parts FROM {table} "
            f"LIMIT {_MOST_READ}) AS _read WHERE {part.sql(query.dialect)} > 0 "
            f"AND {value} <> {sought} LIMIT 1",
        )


def list_text_conditions(query: Query) -> Iterator[tuple[ColumnUse, exp.Expr]]:
    """The texts that a known column, or a function of it, must equal or be like.

    Each is a condition on the bare column.
    """
    for node in query.find_all(exp.EQ, exp.In, exp.Like, exp.ILike):
        if isinstance(node.parent, exp.Not | exp.Escape) or node.args.get("negate"):
            continue
        columns = list(node.this.find_all(exp.Column))
        use = query.resolve(columns[0]) if len(columns) == 1 else None
        if use is None or query.kind_of(use) not in TEXTS:
            continue
        subject = node.this.transform(partial(_replace_column, _bare(use)))
        is_list = isinstance(node, exp.In)
        for text in node.expressions if is_list else [node.args["expression"]]:
            if isinstance(text, exp.Literal) and text.is_string:
                kind = exp.EQ if is_list else type(node)
                yield use, kind(this=subject.copy(), expression=text.copy())


def _replace_column(bare: exp.Column, node: exp.Expr) -> exp.Expr:
    return bare if isinstance(node, exp.Column) else node


def _is_null(use: ColumnUse) -> exp.Expr:
    return _bare(use).is_(exp.null())


def _bare(use: ColumnUse) -> exp.Column:
    return exp.column(use.column.name, quoted=True)


def list_ordered_texts(query: Query) -> Iterator[ColumnUse]:
    """The columns of texts that are compared, of which the first rows or the greatest is sought."""
    for node in query.find_all(exp.Ordered, exp.Min, exp.Max, *_ORDERINGS):
        sides, select = [node.this, node.args.get("expression")], node.parent_select
        if isinstance(node, exp.Ordered):
            sides = [find_output(node.this, select)] if select and select.args.get("limit") else []
        for use in map(query.resolve, sides):
            if use is not None and query.kind_of(use) == "text":
                yield use


def is_misordered(first: object, last: object, shortest: object, longest: object) -> bool:
    """Whether texts between these two, of these lengths, are numbers or days in another order."""
    if not all(isinstance(end, str) and _NUMBER.match(end) for end in (first, last)):
        return False
    if _DAY_FIRST.match(str(first)):
        return True
    return shortest != longest and not all(_IN_ORDER.match(str(end)) for end in (first, last))


def list_dates(query: Query) -> Iterator[ColumnUse]:
    """The columns on which a condition depends that are dates and times, or texts that may be."""
    for node in query.find_all(*_COMPARISONS):
        has_digit = any(re.search(r"\d", text.name) for text in node.find_all(exp.Literal))
        for column in node.find_all(exp.Column):
            use = query.resolve(column)
            kind = None if use is None else query.kind_of(use)
            if use is not None and (kind in TIMES or (kind == "text" and has_digit)):
                yield use


def list_numbers(query: Query) -> Iterator[tuple[ColumnUse, float]]:
    """The columns of numbers that are greater or less than a number, with that number's size."""
    for each in list_conditions(query):
        is_number = isinstance(each.literal, exp.Literal) and not each.literal.is_string
        if each.use and is_number and isinstance(each.node, _ORDERINGS):
            yield each.use, float(each.text)


def build_range(use: ColumnUse, *, with_lengths: bool = False) -> str:
    """A query for the first and the last value of a column."""
    column, table = enquote(use.column.name), enquote(use.table.schema, use.table.name)
    lengths = f", MIN(LENGTH({column})), MAX(LENGTH({column}))" if with_lengths else ""
    return f"SELECT MIN({column}), MAX({column}){lengths} FROM {table}"


def build_probe(use: ColumnUse, condition: exp.Expr, dialect: str) -> str:
    """A query that returns a row if the condition on the column holds in one."""
    table = enquote(use.table.schema, use.table.name)
    return f"SELECT 1 FROM {table} WHERE {condition.sql(dialect)} LIMIT 1"


def _describe(use: ColumnUse, condition: exp.Expr, dialect: str) -> str:
    """The condition, with the column's short name."""
    column = enquote(use.column.name)
    return condition.sql(dialect).replace(column, _name(use), 1)


def _name(use: ColumnUse) -> str:
    return f"{use.table.name}.{use.column.name}"


def _write_end(value: object) -> str:
    """A number, or the day of a date or time as ISO writes it; empty for anything else."""
    if isinstance(value, _NUMBERS):
        return str(value)
    if isinstance(value, datetime):
        return value.date().isoformat()
    if isinstance(value, date):
        return value.isoformat()
    found = _DAY.fullmatch(value) if isinstance(value, str) else None
    return found[1] if found else ""
