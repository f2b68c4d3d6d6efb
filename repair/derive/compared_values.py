"""Two values that the question compares, each with its figure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from nl2sql.catalog import Table
from nl2sql.sql.nodes import find_all, list_conjuncts
from nl2sql.types import ValueMatch, spell_value
from repair.autocorrect.select_scopes import SelectScope
from repair.derive.conditions import has_aggregate
from repair.derive.original import Original, add_condition
from repair.derive.values import reach_column

# "More than" compares with a figure; "how many more" asks for the difference.
_MORE = (
    r"(?<!how many )(?<!how much )\b(?:more|fewer|less|higher|lower|greater|larger|bigger|smaller"
    r"|older|younger|longer|shorter|better|worse)\b(?!\s+than\b)"
)
_FEW_WORDS = r"\W+(?:\w+\W+){0,4}?"
# What the question says before the two values, and between them.
_FORMS = ((_MORE, "or|than|versus|vs"), (r"\bcompare\b", "and|with|to|or|versus|vs"))


@dataclass(frozen=True, slots=True)
class _Compared:
    """A column, in ``spellings`` what it stores of the two values, and all words for them."""

    table: Table
    column: str
    spellings: tuple[str, ...]
    words: frozenset[str]


def compared_values(original: Original) -> Iterator[exp.Expr]:
    """``SELECT count(*) FROM t WHERE country = 'Canada'`` shows the figures of both countries.

    For "more customers in Canada or in Brazil", where both are values of one column: the figure
    for each of the two, whatever the query says about them.
    """
    select = original.tree
    if not isinstance(select, exp.Select) or select.args.get("distinct"):
        return
    scope = original.scopes[0]
    found = list(_list_compared(original))
    read = {table.qualified for _, table in scope.list_tables()}
    for compared in [each for each in found if each.table.qualified in read] or found[:1]:
        figure = _find_figure(original, scope, compared)
        if figure is not None:
            yield from _compare(original, figure, compared)


def _list_compared(original: Original) -> Iterator[_Compared]:
    values = [match for match in original.visible.values if match.phrase]
    tables = {table.qualified: table for table in original.visible.tables}
    for one in values:
        for other in values:
            is_one_column = (one.table, one.column) == (other.table, other.column)
            if (
                is_one_column
                and one.table in tables
                and one.value != other.value
                and _are_compared(one, other, original.question)
            ):
                spellings = (*spell_value(one, values), *spell_value(other, values))
                words = (*spellings, one.phrase, other.phrase)
                yield _Compared(
                    tables[one.table],
                    original.visible.fold(one.column),
                    tuple(dict.fromkeys(spellings)),
                    frozenset(word.casefold() for word in words),
                )


def _are_compared(one: ValueMatch, other: ValueMatch, question: str) -> bool:
    """
    >>> canada, brazil = (ValueMatch(it, "s.t", "c", it, 1.0) for it in ("Canada", "Brazil"))
    >>> _are_compared(canada, brazil, "Do we have more customers in Canada or in Brazil?")
    True
    >>> _are_compared(canada, brazil, "Who has more than 2 customers in Canada or in Brazil?")
    False
    """
    first, second = re.escape(one.phrase), re.escape(other.phrase)
    return any(
        re.search(
            rf"{before}.*\b{first}\b{_FEW_WORDS}(?:{between}){_FEW_WORDS}{second}\b",
            question,
            re.IGNORECASE,
        )
        for before, between in _FORMS
    )


def _find_figure(original: Original, scope: SelectScope, compared: _Compared) -> exp.Expr | None:
    """The only figure of the query; None if it has others, or other groups."""
    select = scope.select
    group = select.args.get("group")
    columns = [*select.expressions, *(group.expressions if group is not None else ())]
    figures = [output for output in select.expressions if has_aggregate(output)]
    if not figures and group is not None and (order := select.args.get("order")) is not None:
        figures = [by.this for by in order.expressions if has_aggregate(by.this)]
    others = [column.unalias() for column in columns if column not in figures]
    own = compared.table.column(original.visible.list_columns(compared.table)[compared.column])
    if len(figures) != 1 or any(original.find_column(it, scope) is not own for it in others):
        return None
    # CASE WHEN country = 'Canada' shows the figures of both already.
    figure = figures[0].unalias()
    inside = find_all(figure, exp.Column)
    return None if any(original.find_column(it, scope) is own for it in inside) else figure


def _compare(original: Original, figure: exp.Expr, compared: _Compared) -> Iterator[exp.Expr]:
    draft = original.draft()
    select = draft.tree
    assert isinstance(select, exp.Select)
    shown = draft.of(figure).copy()
    column = reach_column(original, select, 0, compared.table, compared.column)
    if column is None or select.args.get("having") is not None:
        return
    where = select.args.get("where")
    kept = [] if where is None else list_conjuncts(where.this)
    for part in ("where", "group", "order", "limit", "offset"):
        select.set(part, None)
    for condition in kept:
        texts = {text.this.casefold() for text in find_all(condition, exp.Literal)}
        if not texts or not texts <= compared.words:
            add_condition(select, condition.copy())
    values = [exp.Literal.string(text) for text in compared.spellings]
    add_condition(select, exp.In(this=column, expressions=values))
    select.set("expressions", [column.copy(), shown])
    select.set("group", exp.Group(expressions=[column.copy()]))
    yield select
