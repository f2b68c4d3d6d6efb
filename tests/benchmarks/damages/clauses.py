"""Clauses that a database refuses, and constructs of other dialects."""

from __future__ import annotations

from random import Random

from sqlglot import exp
from sqlglot.errors import ErrorLevel

from repair.autocorrect.aggregates import list_aggregates
from repair.autocorrect.table_lookup import TableLookup
from tests.benchmarks.damages.places import write_query


def missing_group(tree: exp.Expr, visible: TableLookup, random: Random) -> str | None:
    """``SELECT country, COUNT(*) … GROUP BY country`` loses its GROUP BY, or one of several."""
    groups = [group for group in tree.find_all(exp.Group) if group.expressions]
    if not groups:
        return None
    group = random.choice(groups)
    kept = list(group.expressions)
    kept.pop(random.randrange(len(kept)))
    if kept:
        group.set("expressions", kept)
    elif group.parent is not None:
        group.parent.set("group", None)
    return write_query(tree, visible)


def grouped_aggregate(tree: exp.Expr, visible: TableLookup, random: Random) -> str | None:
    """``GROUP BY country`` → ``GROUP BY country, COUNT(*)``."""
    places = [
        (select.args["group"], aggregates[0])
        for select in tree.find_all(exp.Select)
        if select.args.get("group")
        and (
            aggregates := [
                one for expression in select.expressions for one in list_aggregates(expression)
            ]
        )
    ]
    if not places:
        return None
    group, aggregate = random.choice(places)
    group.append("expressions", aggregate.copy())
    return write_query(tree, visible)


def aggregate_in_where(tree: exp.Expr, visible: TableLookup, random: Random) -> str | None:
    """``HAVING COUNT(*) > 2`` → ``WHERE COUNT(*) > 2``."""
    places = [select for select in tree.find_all(exp.Select) if select.args.get("having")]
    if not places:
        return None
    select = random.choice(places)
    condition = select.args["having"].this.copy()
    select.set("having", None)
    select.where(condition, copy=False)
    return write_query(tree, visible)


def alias_in_having(tree: exp.Expr, visible: TableLookup, random: Random) -> str | None:
    """``HAVING COUNT(*) > 2`` → ``SELECT …, COUNT(*) AS n … HAVING n > 2``, selected already."""
    places = [
        (output, aggregate)
        for select in tree.find_all(exp.Select)
        if (having := select.args.get("having"))
        for output in select.expressions
        for aggregate in list_aggregates(having.this)
        if output == aggregate
    ]
    if not places:
        return None
    output, aggregate = random.choice(places)
    aggregate.replace(exp.column("n_rows"))
    output.replace(exp.alias_(output.copy(), "n_rows"))
    return write_query(tree, visible)


def quoted_text(tree: exp.Expr, visible: TableLookup, random: Random) -> str | None:
    """``'Germany'`` → ``"Germany"``."""
    texts = [literal for literal in tree.find_all(exp.Literal) if literal.is_string]
    if not texts or visible.dialect == "sqlite":
        return None
    for text in texts:
        text.replace(exp.to_identifier(text.name, quoted=True))
    return write_query(tree, visible)


def mysql_words(tree: exp.Expr, visible: TableLookup, random: Random) -> str | None:
    """As MySQL writes it, names in backticks."""
    return _translate(tree, visible, "mysql")


def tsql_words(tree: exp.Expr, visible: TableLookup, random: Random) -> str | None:
    """As SQL Server writes it, names in brackets."""
    return _translate(tree, visible, "tsql")


def sqlite_words(tree: exp.Expr, visible: TableLookup, random: Random) -> str | None:
    """As SQLite writes it."""
    return _translate(tree, visible, "sqlite")


def postgres_words(tree: exp.Expr, visible: TableLookup, random: Random) -> str | None:
    """As PostgreSQL writes it."""
    return _translate(tree, visible, "postgres")


def _translate(tree: exp.Expr, visible: TableLookup, dialect: str) -> str | None:
    if dialect == visible.dialect:
        return None
    real = {name for table in visible.tables for name in visible.list_columns(table)}
    for column in list(tree.find_all(exp.Column)):
        # SQLite's golds write texts in double quotes, which other databases read as names.
        if column.this.args.get("quoted") and visible.spell(column.this) not in real:
            column.replace(exp.Literal.string(column.name))
    quoted = dialect in ("mysql", "tsql")
    written = tree.sql(dialect, identify=quoted, unsupported_level=ErrorLevel.IGNORE)
    return written.replace("COUNT_BIG(", "COUNT(")  # sqlglot's spelling, which models do not use
