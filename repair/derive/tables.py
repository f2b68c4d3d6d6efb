"""Tables that a query joins: one too few, or by the wrong kind of join."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from nl2sql.sql.nodes import find_all, list_conjuncts
from repair.autocorrect.missing_tables import add_join
from repair.autocorrect.select_scopes import SelectScope, SelectSource, find_clause, read_scopes
from repair.autocorrect.table_lookup import KeyNeighbour
from repair.derive.original import Original, name_head


def counted_tables(original: Original) -> Iterator[exp.Expr]:
    """``FROM genre GROUP BY name ORDER BY count(*)`` becomes ``FROM genre JOIN track ON …``.

    For a question that names tracks: a table that refers to one of the query's, which reads none
    of that name.
    """
    read = {name_head(table) for scope in original.scopes for _, table in scope.list_tables()}
    for number, scope in enumerate(original.scopes):
        if scope.select.args.get("group") is None or not _counts_rows(scope.select):
            continue
        for source, neighbour in _list_referring(original, scope):
            table = neighbour.table
            if name_head(table) not in original.words - read:
                continue
            tree = original.tree.copy()
            copy = read_scopes(tree, original.visible)[number]
            own = copy.sources[original.visible.spell(source.identifier)]
            if add_join(copy, own, neighbour) is not None:
                yield tree


def _counts_rows(select: exp.Select) -> bool:
    return any(
        count.parent_select is select and isinstance(count.this, exp.Star)
        for count in find_all(select, exp.Count)
    )


def _list_referring(
    original: Original, scope: SelectScope
) -> Iterator[tuple[SelectSource, KeyNeighbour]]:
    """The tables that refer to one of the SELECT's to which none of its others refers.

    Of two tables that refer to the same one, each would repeat the other's rows.
    """
    joined = {table.qualified for _, table in scope.list_tables()}
    for source, table in scope.list_tables():
        referring = [
            neighbour
            for neighbour in original.visible.list_neighbours(table)
            if neighbour.key.table == neighbour.table.qualified
        ]
        if not any(neighbour.table.qualified in joined for neighbour in referring):
            for neighbour in referring:
                yield source, neighbour


def unmatched_rows(original: Original) -> Iterator[exp.Expr]:
    """``JOIN orders AS o ON … = o.customer_id WHERE o.id IS NULL`` becomes a LEFT JOIN.

    In an inner join no key of the joined table is NULL: rows without a match are meant.
    """
    draft = original.draft()
    joins = [join for scope in original.scopes for join in _list_matching(original, scope)]
    for join in map(draft.of, joins):
        join.set("kind", None)
        join.set("side", "LEFT")
    if joins:
        yield draft.tree


def _list_matching(original: Original, scope: SelectScope) -> list[exp.Join]:
    """The inner joins with tables of which WHERE says that a key IS NULL, and nothing is shown."""
    where = scope.select.args.get("where")
    missing = [
        part.this
        for part in (list_conjuncts(where.this) if where is not None else ())
        if isinstance(part, exp.Is)
        and isinstance(part.expression, exp.Null)
        and not part.args.get("negate")
    ]
    return [
        join
        for join in scope.select.args.get("joins") or ()
        if not join.side
        and join.kind in ("", "INNER")
        and any(_is_hidden_key(original, scope, join, column) for column in missing)
    ]


def _is_hidden_key(original: Original, scope: SelectScope, join: exp.Join, node: exp.Expr) -> bool:
    """Whether it is a column of the joined table's key, or one that the table is joined by."""
    column = original.find_column(node, scope)
    if column is None or not isinstance(node, exp.Column):
        return False
    source, on = original.find_owner(node, scope), join.args.get("on")
    if source is None or source.identifier.name != join.this.alias_or_name:
        return False
    if any(find_clause(use) == "expressions" for use in original.uses[id(source)]):
        return False
    is_joined = on is not None and node in list(find_all(on, exp.Column))
    return is_joined or (source.table is not None and column.name in source.table.primary_key)
