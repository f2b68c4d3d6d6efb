"""Groups the candidates that vote together: those whose results are one reading.

A form has equivalent results, by the comparator of the evaluation. Of a truncated result only a
page is known: it equals another truncated result if the pages are equal. A candidate that could not
be run is alone. Results are compared pairwise only where they have the same profile; each is read
about once.

A reading has forms that show the same things differently. Two forms are one reading in four cases
only, each proven from keys of the catalog or from the queries themselves, and checked against the
rows:

- *Key and label.* One shows a key where the other shows the label of the row with that key. Proof:
  a candidate derived by ``shown_names``, which has the rows of its original by construction and
  figures equal to it, has the other's rows.
- *A rounded figure.* One is the other, with its numbers rounded to the decimals of a ROUND.
- *A period.* The months of one date are shown as dates, as texts or by year and number; the year
  may be missing where all rows are of one year.
- *More columns.* One shows more columns of the same rows, or the figure by which they are the
  first rows. Which of these is shown is decided within the reading.

The correspondence must be one to one: rows with labels that belong to two different results by
keys (two customers of one name), or rounded figures of two different results, join nothing. Nor
does a form with more columns join two that have none in common: names and ages. Everything else is
a different reading, also a figure more. Knows nothing of SQL: ``ranking/display.py`` reads it.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal

from networkx.utils import UnionFind

from nl2sql.results.equivalence import ComparedRows, are_equivalent
from nl2sql.types import Assessment, ResultSet

_NO_GROUP = -1

# The rule that derives the label's form from the key's (repair/derive).
_LABELLING = "shown_names"
_NUMBER = re.compile(r"\d+")


def group_assessments(assessments: Sequence[Assessment]) -> list[Assessment]:
    """The assessments with their groups, numbered from 0; wrong candidates keep -1."""
    forms = _Forms()
    grouped = []
    for each in assessments:
        form = _NO_GROUP
        if (result := each.result) is not None:
            form = forms.find(result.rows, truncated=result.truncated)
        grouped.append(replace(each, form=form))
    readings = _join_forms(grouped, forms)
    groups = len(set(readings.values()))
    for number, each in enumerate(grouped):
        group = readings.get(each.form, _NO_GROUP)
        if each.result is None and each.unrun:
            group, groups = groups, groups + 1
        grouped[number] = replace(each, group=group)
    return grouped


class _Forms:
    """The first result of each form."""

    def __init__(self) -> None:
        self._count = 0
        self._known: dict[Hashable, list[tuple[int, ComparedRows]]] = {}

    def find(self, rows: Sequence[Sequence[object]], *, truncated: bool = False) -> int:
        """The number of an equal result, or a new one.

        A page never equals a complete result, which has no more rows.
        """
        compared = ComparedRows(rows)
        alike = self._known.setdefault((truncated, compared.profile), [])
        for number, other in alike:
            if compared.is_equivalent_to(other):
                return number
        alike.append((self._count, compared))
        self._count += 1
        return self._count - 1


@dataclass(frozen=True, slots=True)
class _Link:
    """A form, what it becomes with less detail, and what distinguishes its rows.

    ``column`` is the detail, if it is a further column.
    """

    form: int
    shown: int
    detailed: int
    column: str = ""


def _join_forms(assessments: Sequence[Assessment], forms: _Forms) -> dict[int, int]:
    """Form → number of its reading, from 0 in the order of the assessments."""
    joined: UnionFind[int] = UnionFind()
    _join_links(joined, _list_links(assessments, forms))
    _join_links(joined, _list_wider(assessments, forms, joined))
    numbers: dict[int, int] = {}
    readings = {}
    for assessment in assessments:
        if assessment.form >= 0:
            root = joined[assessment.form]
            readings[assessment.form] = numbers.setdefault(root, len(numbers))
    return readings


def _join_links(joined: UnionFind[int], links: Iterable[_Link]) -> None:
    by_shown = defaultdict(list)
    for link in links:
        by_shown[link.shown].append(link)
    for shown, found in by_shown.items():
        details = {(link.column, joined[link.detailed]) for link in found}
        details -= {(column, joined[shown]) for column, _ in details}
        if len(details) == len({column for column, _ in details}):
            for link in found:
                joined.union(shown, link.form, link.detailed)


def find_bare(assessments: Sequence[Assessment]) -> frozenset[int]:
    """The forms that show keys, where another form of the same reading shows their labels."""
    return frozenset(
        keyed.form
        for keyed, labelled in _list_labelled(assessments)
        if keyed.group == labelled.group and keyed.form != labelled.form
    )


def _list_labelled(assessments: Sequence[Assessment]) -> Iterator[tuple[Assessment, Assessment]]:
    """The candidates with keys, each with the one that shows all of its rows with labels."""
    known = {assessment.candidate.id: assessment for assessment in assessments}
    for child in assessments:
        parent = known.get(child.candidate.derived_from)
        if (
            child.candidate.rule == _LABELLING
            and child.result is not None
            and parent is not None
            and parent.result is not None
            and _shows_labels(parent.result, child.result)
        ):
            yield parent, child


def _shows_labels(keyed: ResultSet, labelled: ResultSet) -> bool:
    """True if the rows are equal but for a key, which the other shows with the row's labels."""
    width, more = len(keyed.columns), len(labelled.columns) - len(keyed.columns)
    if keyed.truncated != labelled.truncated or more < 0:
        return False
    for at in range(width):
        labels = range(at, at + more + 1)
        # A label that is missing, or withheld from the principal, does not say which row it is.
        missing = sum(any(row[each] is None for each in labels) for row in labelled.rows)
        if missing <= sum(row[at] is None for row in keyed.rows) and are_equivalent(
            _leave_out(keyed, (at,)), _leave_out(labelled, labels)
        ):
            return len(keyed.rows) == len(labelled.rows)
    return False


def _list_links(assessments: Sequence[Assessment], forms: _Forms) -> Iterator[_Link]:
    for keyed, labelled in _list_labelled(assessments):
        yield _Link(keyed.form, labelled.form, keyed.form)
    digits = {assessment.display.digits for assessment in assessments} - {None}
    done = set()
    for assessment in assessments:
        result, display = assessment.result, assessment.display
        if result is None or result.truncated or not result.rows:
            continue
        if assessment.form in done:
            continue
        done.add(assessment.form)
        if (periods := _read_periods(result, display.periods)) is not None:
            bare, full = periods
            yield _Link(assessment.form, forms.find(bare), forms.find(full))
        for decimals in digits:
            if decimals is not None and (rounded := _round(result, decimals)) is not None:
                yield _Link(assessment.form, forms.find(rounded), assessment.form)


def _list_wider(
    assessments: Sequence[Assessment], forms: _Forms, joined: UnionFind[int]
) -> Iterator[_Link]:
    """The forms with more columns of the rows of others, one link for each column.

    The others are one reading, or have a column in common.
    """
    known = {
        (each.form, each.display.shown): result
        for each in assessments
        if (result := each.result) is not None
        and not result.truncated
        and len(each.display.shown) == len(result.columns)
    }
    for (wide, shown), result in known.items():
        found = []
        for fewer in dict.fromkeys(names for _, names in known):
            more = {at for at, name in enumerate(shown) if name and name not in fewer}
            if more and any(fewer) and len(shown) - len(more) == len(fewer):
                form = forms.find(_leave_out(result, more))
                if (form, fewer) in known:
                    found.append((form, more, frozenset(fewer)))
        least = [each for each in found if not any(other[2] < each[2] for other in found)]
        if not least or (
            not frozenset.intersection(*(fewer for _, _, fewer in least)) - {""}
            and len({joined[form] for form, _, _ in least}) > 1
        ):
            continue
        for form, more, _ in found:
            for name in {shown[at] for at in more}:
                others = {at for at in more if shown[at] != name}
                yield _Link(wide, form, forms.find(_leave_out(result, others)), name)


def _leave_out(result: ResultSet, positions: Collection[int]) -> list[tuple[object, ...]]:
    kept = [at for at in range(len(result.columns)) if at not in positions]
    return [tuple(row[at] for at in kept) for row in result.rows]


def _read_periods(
    result: ResultSet, periods: Sequence[tuple[int, str]]
) -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]] | None:
    """The rows with a number for each year and month, first without a year that all rows have.

    None if there are no periods, or a cell is none.
    """
    read = [_read_period(row, periods) for row in result.rows]
    years = {year for year, _ in read}
    months = [month for _, month in read]
    if not periods or any(year is None and month is None for year, month in read):
        return None
    others = _leave_out(result, [at for at, _ in periods])
    full = [
        (*(part for part in period if part is not None), *row)
        for period, row in zip(read, others, strict=True)
    ]
    if len({len(row) for row in full}) > 1:
        return None
    if len(years) > 1 or None in months:
        return full, full
    return [(month, *row) for month, row in zip(months, others, strict=True)], full


def _read_period(
    row: Sequence[object], periods: Sequence[tuple[int, str]]
) -> tuple[int | None, int | None]:
    """The year and the month of a row."""
    found: dict[str, int] = {}
    for at, says in periods:
        cell = row[at]
        if isinstance(cell, dt.date):
            numbers = [cell.year, cell.month]
        else:
            numbers = [int(number) for number in _NUMBER.findall(str(cell))]
            numbers = numbers if says != "m" else [0, *numbers]
        for part, number in zip("ym", numbers, strict=False):
            if part in says:
                found[part] = number
    return found.get("y"), found.get("m")


def _round(result: ResultSet, decimals: int) -> list[tuple[object, ...]] | None:
    """The rows with rounded numbers; None if they have no number to round."""
    step = Decimal(1).scaleb(-decimals)
    if not any(isinstance(cell, float | Decimal) for row in result.rows for cell in row):
        return None
    return [tuple(_round_cell(cell, step) for cell in row) for row in result.rows]


def _round_cell(cell: object, step: Decimal) -> object:
    if not isinstance(cell, float | Decimal):
        return cell
    number = Decimal(repr(cell)) if isinstance(cell, float) else cell
    # A number of more digits than decimal arithmetic has is a whole one.
    if not number.is_finite() or number.adjusted() > 20:
        return cell
    return number.quantize(step, ROUND_HALF_UP)
