"""Tables that are joined and not used, and tables whose rows a question counts."""

from __future__ import annotations

from collections.abc import Iterator, Set

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from repair.autocorrect.missing_tables import add_join
from repair.autocorrect.select_scopes import SelectScope, SelectSource, read_scopes
from repair.autocorrect.table_lookup import KeyNeighbour
from repair.derive.original import Original, name_head


def find_node(select: exp.Select, source: SelectSource) -> exp.Table | None:
    """The table in FROM or in a join that has the source's name."""
    clauses = [select.args.get("from_"), *(select.args.get("joins") or ())]
    for clause in clauses:
        node = clause.this if clause is not None else None
        if isinstance(node, exp.Table) and _is_named(node, source):
            return node
    return None


def find_join(column: exp.Column, select: exp.Select) -> exp.Join | None:
    """The join of the SELECT in whose condition the column is."""
    here: exp.Expr | None = column
    while here is not None and here is not select:
        if isinstance(here, exp.Join) and here.parent is select:
            return here
        here = here.parent
    return None


def list_pairs(
    original: Original, scope: SelectScope, join: exp.Join, source: SelectSource
) -> dict[str, exp.Column]:
    """Folded name of a column of the source → the column of another that the join equals it to."""
    found: dict[str, exp.Column] = {}
    condition = join.args.get("on")
    for sides in list_equal_columns(condition):
        for own, other in (sides, sides[::-1]):
            is_own = original.find_owner(own, scope) is source
            if is_own and original.find_owner(other, scope) not in (source, None):
                found[original.visible.spell(own.this)] = other
    return found


def list_equal_columns(condition: exp.Expr | None) -> list[tuple[exp.Column, exp.Column]]:
    """The pairs of columns that a condition equals.

    >>> from nl2sql.sql.parsing import parse_one
    >>> join = parse_one("SELECT 1 FROM a JOIN b ON a.x = b.y AND b.z = 1", "sqlite")
    >>> pairs = list_equal_columns(join.args["joins"][0].args["on"])
    >>> [(left.sql(), right.sql()) for left, right in pairs]
    [('a.x', 'b.y')]
    """
    return [
        (equal.left, equal.right)
        for equal in (find_all(condition, exp.EQ) if condition is not None else ())
        if isinstance(equal.left, exp.Column) and isinstance(equal.right, exp.Column)
    ]


def _is_named(node: exp.Table, source: SelectSource) -> bool:
    alias = node.args.get("alias")
    return (alias.this if alias is not None else node.this) is source.identifier


def dropped_joins(original: Original) -> Iterator[exp.Expr]:
    """Takes ``visit`` out of ``SELECT v.name FROM visitor v JOIN visit s ON s.v_id = v.id``.

    A key of the table is replaced by the column that it equals. What then is not used either is
    left out in a further query.
    """
    found = list(_drop_one(original))
    while found:
        yield from found
        # All orders end with the same query.
        found = list(_drop_one(Original(found[0], original.visible, original.question)))


def drop_joins(original: Original) -> exp.Expr:
    """The query without any table that is not used."""
    while (changed := next(_drop_one(original), None)) is not None:
        original = Original(changed, original.visible, original.question)
    return original.tree


def list_with_fewer_joins(original: Original) -> Iterator[Original]:
    """The query, and where a table is not used, the one without any such table."""
    yield original
    fewer = drop_joins(original)
    if fewer is not original.tree:
        yield Original(fewer, original.visible, original.question)


def _drop_one(original: Original) -> Iterator[exp.Expr]:
    for scope in original.scopes:
        if scope.select.args.get("joins"):
            for source in scope.sources.values():
                if (changed := _drop(original, scope, source)) is not None:
                    yield changed


def _drop(original: Original, scope: SelectScope, source: SelectSource) -> exp.Expr | None:
    select = scope.select
    node = find_node(select, source)
    joins = select.args["joins"]
    inside = {
        number: [
            column for column in original.uses[id(source)] if find_join(column, select) is join
        ]
        for number, join in enumerate(joins)
    }
    mentioned = [number for number, columns in inside.items() if columns]
    if node is None or len(mentioned) != 1:
        return None
    number = mentioned[0]
    is_first = node.arg_key == "this" and isinstance(node.parent, exp.From)
    if is_first and number != 0:
        return None
    if not is_first and node.parent is not joins[number]:
        return None
    equal = list_pairs(original, scope, joins[number], source)
    others = [column for column in original.uses[id(source)] if find_join(column, select) is None]
    spelled = [(column, original.visible.spell(column.this)) for column in others]
    if any(name not in equal for _, name in spelled):
        return None
    draft = original.draft()
    for column, name in spelled:
        draft.of(column).replace(equal[name].copy())
    copy = draft.of(select)
    if is_first:
        copy.args["from_"].set("this", draft.of(joins[0]).this)
    copy.args["joins"].pop(number)
    return draft.tree


def counted_tables(original: Original) -> Iterator[exp.Expr]:
    """``FROM genre GROUP BY name ORDER BY count(*)`` becomes ``FROM genre JOIN track ON …``.

    For a question that names tracks: a table that refers to one of the query's, which reads none
    of that name. Also without joins that nothing uses.
    """
    read = {name_head(table) for scope in original.scopes for _, table in scope.list_tables()}
    for version in list_with_fewer_joins(original):
        yield from _count_others(version, read)


def _count_others(original: Original, read: Set[str]) -> Iterator[exp.Expr]:
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
