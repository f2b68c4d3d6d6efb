"""Rows that no row of another table refers to."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from nl2sql.catalog import Table
from nl2sql.expectations.said_texts import is_said
from nl2sql.sql.nodes import find_all
from nl2sql.words import split_words
from repair.autocorrect.table_lookup import Neighbour
from repair.derive.original import Original, add_condition, list_conjuncts, name_head
from repair.derive.signs import NEGATIONS

_FLAGS = frozenset({"yes", "no", "true", "false"})


def unrelated_rows(original: Original) -> Iterator[exp.Expr]:
    """Any query for "members who are not in charge of events" becomes ``member WHERE id NOT IN
    (SELECT member_in_charge_id FROM events)``.

    The other table is one key away and named after the question's first negation. Only the
    conditions that the question mentions are kept.
    """
    words = split_words(original.question)
    sign = next((at for at, word in enumerate(words) if word in NEGATIONS), None)
    select = original.tree
    if sign is None or not isinstance(select, exp.Select):
        return
    if select.args.get("group") is not None or select.args.get("order") is not None:
        return
    before, after = words[:sign], words[sign + 1 :]
    for base in _list_bases(original, select, before):
        for neighbour in original.visible.list_neighbours(base):
            is_named = name_head(neighbour.table) in after
            if is_named and len(neighbour.pairs) == 1:
                yield _build(original, select, base, neighbour)


def _list_bases(original: Original, select: exp.Select, before: list[str]) -> list[Table]:
    """The tables whose rows may be asked for.

    The one that has the outputs; of a count, the first that the question names.
    """
    visible, level = original.visible, original.levels[0]
    named = sorted(
        (before.index(head), number)
        for number, table in enumerate(visible.tables)
        if (head := name_head(table)) in before
    )
    if len(select.expressions) == 1 and isinstance(select.expressions[0].unalias(), exp.Count):
        return [visible.tables[number] for _, number in named[:1]]
    columns = [column for output in select.expressions for column in find_all(output, exp.Column)]
    owners = [original.find_owner(column, level) for column in columns]
    tables = {owner.table.qualified: owner.table for owner in owners if owner and owner.table}
    if not columns or len(tables) != 1:
        return []
    names = {visible.spell(column.this) for column in columns}
    found = [visible.tables[number] for _, number in named]
    others = [table for table in found if names <= set(visible.list_columns(table))]
    return list(dict.fromkeys([*tables.values(), *others]))


def _build(original: Original, select: exp.Select, base: Table, neighbour: Neighbour) -> exp.Expr:
    visible = original.visible
    own, other = neighbour.pairs[0]
    outer = exp.Select(
        expressions=[_strip(output) for output in _list_outputs(select)],
        from_=exp.From(this=visible.build_table(base)),
    )
    if select.args.get("distinct"):
        outer.set("distinct", exp.Distinct())
    where = select.args.get("where")
    for condition in list_conjuncts(where.this) if where is not None else []:
        if _is_kept(original, condition, base):
            add_condition(outer, _strip(condition))
    related = exp.Select(
        expressions=[exp.Column(this=visible.build_identifier(other))],
        from_=exp.From(this=visible.build_table(neighbour.table)),
    )
    key = exp.Column(this=visible.build_identifier(own))
    add_condition(outer, exp.Not(this=exp.In(this=key, query=exp.Subquery(this=related))))
    return outer


def _list_outputs(select: exp.Select) -> list[exp.Expr]:
    outputs = select.expressions
    is_count = len(outputs) == 1 and isinstance(outputs[0].unalias(), exp.Count)
    return [exp.Count(this=exp.Star())] if is_count else list(outputs)


def _strip(node: exp.Expr) -> exp.Expr:
    """A copy whose columns name no table."""
    copy = node.copy()
    for column in find_all(copy, exp.Column):
        column.set("table", None)
    return copy


def _is_kept(original: Original, condition: exp.Expr, base: Table) -> bool:
    """True for a condition on the base table alone that the question mentions."""
    columns = list(find_all(condition, exp.Column))
    owners = [original.find_owner(column, original.levels[0]) for column in columns]
    literals = list(find_all(condition, exp.Literal))
    return (
        bool(columns)
        and bool(literals)
        and all(owner is not None and owner.table is base for owner in owners)
        and not any(True for _ in find_all(condition, exp.Select))
        and all(is_said(literal.this, original.question) for literal in literals)
        # Every question counts as saying these.
        and (
            not any(literal.this.lower() in _FLAGS for literal in literals)
            or any(original.says(column.name) for column in columns)
        )
    )
