"""How many related rows there are, instead of a column that is compared with the number."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from nl2sql.languages.english import NUMBER_WORDS
from nl2sql.sql.nodes import find_all
from nl2sql.words import split_words
from repair.autocorrect.levels import Level
from repair.derive.dropped_joins import list_with_fewer_joins
from repair.derive.original import Original, drop_condition, has_aggregate, list_conjuncts

_NEAR = 4
_OPERATORS: dict[str, type[exp.Binary]] = {
    ">": exp.GT,
    ">=": exp.GTE,
    "<": exp.LT,
    "<=": exp.LTE,
}
_COMPARISONS: tuple[type[exp.Binary], ...] = (exp.EQ, *_OPERATORS.values())


def counted_groups(original: Original) -> Iterator[exp.Expr]:
    """``WHERE stars >= 3`` becomes ``GROUP BY … HAVING count(*) >= 3`` for "at least 3 movies".

    The groups are the outputs, and the key of their table where others are joined. Only if the
    number stands before the name of a table.
    """
    if not original.expected.comparisons:
        return
    for version in list_with_fewer_joins(original):
        yield from _count_all(version)


def _count_all(original: Original) -> Iterator[exp.Expr]:
    for level in original.levels:
        select = level.select
        where = select.args.get("where")
        if where is None or select.args.get("group") is not None or select.is_star:
            continue
        if any(map(has_aggregate, select.expressions)):
            continue
        for node in list_conjuncts(where.this):
            if not isinstance(node, _COMPARISONS):
                continue
            if (operator := _find_operator(original, node)) is not None:
                yield _count(original, level, node, operator)


def _find_operator(original: Original, node: exp.Expr) -> type[exp.Binary] | None:
    """The operator with which the question compares the literal of the condition."""
    literal = node.expression
    if not isinstance(literal, exp.Literal):
        return None
    if not _counts_rows(original, literal.this):
        return None
    for pairs in original.expected.comparisons:
        operators = [operator for operator, figure in pairs if figure == literal.this]
        if operators:
            return _OPERATORS[operators[0]]
    return None


def _counts_rows(original: Original, figure: str) -> bool:
    """True if the question has the figure, or an equal one, before the name of a table."""
    names = {word for table in original.visible.tables for word in split_words(table.name)}
    numbers = {figure} | {
        other
        for pairs in original.expected.comparisons
        if any(figure == number for _, number in pairs)
        for _, other in pairs
    }
    words = [NUMBER_WORDS.get(word, word) for word in split_words(original.question)]
    return any(
        str(word) in numbers
        and any(str(follower) in names for follower in _list_followers(words[at + 1 :]))
        for at, word in enumerate(words)
    )


def _list_followers(words: list[int | str]) -> list[int | str]:
    """The words of the same phrase: in "3 or more different movies" the next four."""
    ends = [at for at, word in enumerate(words) if word in ("and", "with", "in", "of")]
    return words[: min([_NEAR, *ends])]


def _count(
    original: Original, level: Level, node: exp.Expr, operator: type[exp.Binary]
) -> exp.Expr:
    draft = original.draft()
    select = draft.of(level.select)
    condition = draft.of(node)
    figure = condition.expression.copy()
    if condition.parent is select.args["where"]:
        select.set("where", None)
    else:
        drop_condition(condition)
    groups = [output.unalias().copy() for output in level.select.expressions]
    owners = {
        id(owner): owner
        for output in level.select.expressions
        for column in find_all(output, exp.Column)
        if (owner := original.find_owner(column, level)) is not None
    }
    if len(level.sources) > 1 and len(owners) == 1:
        (owner,) = owners.values()
        key = original.find_key(owner.table) if owner.table is not None else None
        if key is not None and (column := original.build_column(owner, key)) not in groups:
            groups.append(column)
    select.set("distinct", None)
    select.set("group", exp.Group(expressions=groups))
    count = operator(this=exp.Count(this=exp.Star()), expression=figure)
    select.set("having", exp.Having(this=count))
    return draft.tree
