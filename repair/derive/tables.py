"""Tables that are joined and not used, counted instead of others, or to be left out."""

from __future__ import annotations

from collections.abc import Iterator, Set

from sqlglot import exp

from nl2sql.catalog import Table
from nl2sql.expectations.said_texts import is_said
from nl2sql.sql.expression_form import list_conjuncts
from nl2sql.sql.nodes import find_all
from nl2sql.words import split_words
from repair.autocorrect.missing_tables import add_join
from repair.autocorrect.select_scopes import SelectScope, SelectSource, read_scopes
from repair.autocorrect.table_lookup import KeyNeighbour
from repair.derive.original import Original, add_condition, name_head


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

    For a question that names tracks: a table that refers to one of the query's, and of which the
    query reads nothing. Also without joins that nothing uses.
    """
    read = {table.qualified for scope in original.scopes for _, table in scope.list_tables()}
    for version in list_with_fewer_joins(original):
        yield from _count_others(version, read)


def _count_others(original: Original, read: Set[str]) -> Iterator[exp.Expr]:
    for number, scope in enumerate(original.scopes):
        if scope.select.args.get("group") is None or not _counts_rows(scope.select):
            continue
        for source, neighbour in _list_referring(original, scope):
            table = neighbour.table
            if table.qualified in read or name_head(table) not in original.words:
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


NEGATIONS = frozenset("not no never without neither nor except exclude excluding t".split())


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
                yield _build_unrelated(original, select, base, neighbour)


def _list_bases(original: Original, select: exp.Select, before: list[str]) -> list[Table]:
    """The tables whose rows may be asked for.

    The one that has the outputs; of a count, the first that the question names.
    """
    visible, scope = original.visible, original.scopes[0]
    named = sorted(
        (before.index(head), number)
        for number, table in enumerate(visible.tables)
        if (head := name_head(table)) in before
    )
    if len(select.expressions) == 1 and isinstance(select.expressions[0].unalias(), exp.Count):
        return [visible.tables[number] for _, number in named[:1]]
    columns = [column for output in select.expressions for column in find_all(output, exp.Column)]
    owners = [original.find_owner(column, scope) for column in columns]
    tables = {owner.table.qualified: owner.table for owner in owners if owner and owner.table}
    if not columns or len(tables) != 1:
        return []
    names = {visible.spell(column.this) for column in columns}
    found = [visible.tables[number] for _, number in named]
    others = [table for table in found if names <= set(visible.list_columns(table))]
    return list(dict.fromkeys([*tables.values(), *others]))


def _build_unrelated(
    original: Original, select: exp.Select, base: Table, neighbour: KeyNeighbour
) -> exp.Expr:
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
    owners = [original.find_owner(column, original.scopes[0]) for column in columns]
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
