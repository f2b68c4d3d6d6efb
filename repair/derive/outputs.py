"""What is shown: names instead of keys, and rounded figures.

What ``shown_names`` derives has exactly the rows of its original, with a name in place of a key, so
that the vote takes both for one reading (``ranking/vote/groups.py``). Therefore a table is added
by a LEFT JOIN, which drops no row and, to a primary key, repeats none; groups stay those of the
key; and a query whose groups, order or conditions refer to the output is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from nl2sql.catalog import find_labels
from nl2sql.sql.nodes import find_all, list_conjuncts
from nl2sql.words import split_words
from repair.autocorrect.missing_tables import add_join
from repair.autocorrect.select_scopes import SelectScope, SelectSource, read_scopes
from repair.autocorrect.table_lookup import KeyNeighbour
from repair.derive.original import Original

_KEYS = frozenset({"id", "ids", "code", "number", "identifier", "key"})
# Beside a figure it is a count: "top 3 actors by number of films".
_COUNT = re.compile(r"\bnumbers? of\b", re.IGNORECASE)
_CLAUSES = ("group", "order", "having", "qualify", "distinct", "where")


def shown_names(original: Original) -> Iterator[exp.Expr]:
    """``SELECT country_id FROM city`` → ``SELECT country.name FROM city LEFT JOIN country …``.

    Only if the question asks for no key and the name is no output yet.
    """
    if len(original.outermost) != 1:
        return
    scope = original.outermost[0]
    is_counted = any(find_all(scope.select, exp.AggFunc))
    asked = _COUNT.sub("", original.question) if is_counted else original.question
    if not _KEYS.isdisjoint(split_words(asked)):
        return
    if not isinstance(original.tree, exp.Select) or _has_ordinals(scope.select):
        return
    for output in scope.select.expressions:
        column = output.unalias()
        owner = original.find_owner(column, scope) if isinstance(column, exp.Column) else None
        if owner is None or owner.table is None or _is_used(original, output, scope):
            continue
        if _is_fixed_in_groups(original, column, owner, scope):
            yield from _show(original, scope, output, owner)


def _has_ordinals(select: exp.Select) -> bool:
    """True if groups or order refer to outputs by their numbers, or to all of them."""
    group, order = select.args.get("group"), select.args.get("order")
    items = [
        *(group.expressions if group is not None else ()),
        *(item.this for item in (order.expressions if order is not None else ())),
    ]
    return any(isinstance(item, exp.Literal) for item in items) or (
        group is not None and any(value for name, value in group.args.items() if name == "all")
    )


def _is_used(original: Original, output: exp.Expr, scope: SelectScope) -> bool:
    """True if another clause may refer to the output by its alias."""
    if not isinstance(output, exp.Alias):
        return False
    alias = original.visible.spell(output.args["alias"])
    return any(
        column.args.get("table") is None and original.visible.spell(column.this) == alias
        for clause in _CLAUSES
        if (node := scope.select.args.get(clause)) is not None
        for column in find_all(node, exp.Column)
    )


def _is_fixed_in_groups(
    original: Original, column: exp.Column, owner: SelectSource, scope: SelectScope
) -> bool:
    """True if no row of the result is of several rows with different keys."""
    group = scope.select.args.get("group")
    if group is None:
        return not any(find_all(scope.select, exp.AggFunc))
    name = original.visible.spell(column.this)
    return any(
        isinstance(item, exp.Column)
        and original.visible.spell(item.this) == name
        and original.find_owner(item, scope) is owner
        for item in group.expressions
    )


def _show(
    original: Original, scope: SelectScope, output: exp.Expr, owner: SelectSource
) -> Iterator[exp.Expr]:
    visible, table = original.visible, owner.table
    assert table is not None
    number = next(at for at, each in enumerate(original.scopes) if each is scope)
    key = visible.spell(output.unalias().this)
    labels = find_labels(table)
    if key == original.find_key(table) and labels and not _is_shown(original, scope, owner, labels):
        draft = original.draft()
        copy = read_scopes(draft.tree, visible)[number]
        _show_columns(original, draft.of(output), owner, labels, copy)
        yield draft.tree
    for neighbour in visible.list_neighbours(table):
        labels = find_labels(neighbour.table)
        refers = neighbour.key.target == neighbour.table.qualified and len(neighbour.pairs) == 1
        if not labels or not refers or visible.fold(neighbour.pairs[0][0]) != key:
            continue
        joined = _find_joined(original, scope, owner, neighbour)
        if joined is not None and _is_shown(original, scope, joined, labels):
            continue
        is_unique = original.find_key(neighbour.table) == visible.fold(neighbour.pairs[0][1])
        # Without a primary key a row may be repeated, which figures and the number of rows show.
        if not is_unique and scope.select.args.get("limit") is not None:
            continue
        draft = original.draft()
        copy = read_scopes(draft.tree, visible)[number]
        own = copy.find_source(visible.spell(owner.identifier))
        there = _find_joined(original, copy, own, neighbour) if own else None
        added = there or (add_join(copy, own, neighbour, side="LEFT") if own else None)
        if added is not None:
            _show_columns(original, draft.of(output), added, labels, copy)
            yield draft.tree


def _is_shown(
    original: Original, scope: SelectScope, source: SelectSource, names: tuple[str, ...]
) -> bool:
    """Whether one of these columns of the source is an output already."""
    folded = {original.visible.fold(name) for name in names}
    columns = [output.unalias() for output in scope.select.expressions]
    return any(
        isinstance(column, exp.Column)
        and original.visible.spell(column.this) in folded
        and original.find_owner(column, scope) is source
        for column in columns
    )


def _show_columns(
    original: Original,
    output: exp.Expr,
    source: SelectSource,
    names: tuple[str, ...],
    scope: SelectScope,
) -> None:
    """Shows the columns instead of the output, and groups by them, which PostgreSQL requires."""
    columns = [original.build_column(source, original.visible.fold(name)) for name in names]
    shown = scope.select.expressions
    at = next(number for number, each in enumerate(shown) if each is output)
    scope.select.set("expressions", [*shown[:at], *columns, *shown[at + 1 :]])
    group = scope.select.args.get("group")
    for column in columns:
        if group is not None and column not in group.expressions:
            group.append("expressions", column.copy())


def _find_joined(
    original: Original, scope: SelectScope, own: SelectSource, neighbour: KeyNeighbour
) -> SelectSource | None:
    """The source of the neighbour's table that is joined by this very key."""
    name, other = map(original.visible.fold, neighbour.pairs[0])
    for source, table in scope.list_tables():
        if table is not neighbour.table or source is own:
            continue
        wanted = {(id(own), name), (id(source), other)}
        for join in scope.select.args.get("joins") or ():
            condition = join.args.get("on")
            for node in list_conjuncts(condition) if condition is not None else ():
                ends = {
                    (id(original.find_owner(side, scope)), original.visible.spell(side.this))
                    for side in (node.args.get("this"), node.args.get("expression"))
                    if isinstance(side, exp.Column)
                }
                if isinstance(node, exp.EQ) and ends == wanted:
                    return source
    return None


def asked_rounding(original: Original) -> Iterator[exp.Expr]:
    """Rounds averages and quotients in the result as "rounded to two decimals" says.

    PostgreSQL rounds only decimals to a number of places.
    """
    decimals = original.expected.decimals
    if decimals is None:
        return
    draft = original.draft()
    changed = False
    for scope in original.outermost:
        for output in scope.select.expressions:
            value = output.this if isinstance(output, exp.Alias) else output
            is_figure = any(True for _ in find_all(value, exp.Avg, exp.Div))
            if not is_figure or any(True for _ in find_all(value, exp.Round)):
                continue
            copy = draft.of(value)
            figure = copy.copy()
            if original.visible.dialect == "postgres":
                figure = exp.cast(figure, "decimal", copy=False)
            rounded = exp.Round(this=figure, decimals=exp.Literal.number(decimals))
            copy.replace(rounded)
            changed = True
    if changed:
        yield draft.tree
