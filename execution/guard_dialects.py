"""Parses and renders SQL in the guard's dialects, with names for outputs that the query gives none.

SQLite and DuckDB name such an output by its text. The rewritten text is another one, which holds
the conditions and masks of policies, so the text of the query (without comments) is written as an
alias; DuckDB itself would write ``count_star()`` for ``count(*)``. Only in outputs whose names
somebody sees: of the whole query, in FROM and in CTEs. An alias could be named in the same query,
where the original name could not, so that is refused.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError
from sqlglot.optimizer.normalize_identifiers import normalize_identifiers

from execution.duckdb.dialect import GuardedDuckdb
from execution.parsing.call_spelling import spell_calls
from execution.parsing.comments import strip_comments
from execution.parsing.plain_dialect import read_span, remove_parentheses
from execution.postgres.dialect import GuardedPostgres
from execution.sqlite.dialect import GuardedSqlite, record_spelling, restore_spelling
from nl2sql.sql import parsing
from nl2sql.sql.nodes import list_selects
from nl2sql.sql.parsing import MOST_CHARS

_HEADING = "heading"
# Functions without parentheses, whose names a table may have.
_BARE_FUNCTIONS = tuple(set(GuardedDuckdb.Parser.NO_PAREN_FUNCTIONS.values()))
_SEEN_IN = (type(None), exp.CTE, exp.From, exp.Join, exp.Lateral, exp.Table)


def write_headings(tree: exp.Expr, sql: str, dialect: str) -> None:
    """Gives names to the outputs of a tree that was parsed from ``sql``, in place.

    Raises ParseError.
    """
    unnamed: list[tuple[exp.Expr, str]] = []
    length = 0
    for select in list(tree.find_all(exp.Select)):
        around = _find_surroundings(select)
        if not isinstance(around, _SEEN_IN):
            continue
        for at, output in enumerate(select.expressions):
            if isinstance(output, exp.Alias) or output.is_star:
                continue
            column = output.unnest()
            first = column.this if isinstance(column, exp.Dot) else column
            if dialect == "duckdb" and isinstance(first, _BARE_FUNCTIONS):
                # ``current_date.id`` is a column of a table of that name, and stays one. An alias
                # ``current_date`` would be what the function's name means to DuckDB.
                continue
            is_within = around is not None and dialect == "sqlite"
            while is_within and isinstance(column, exp.Collate):
                # A collation does not count there (sqlite3ColumnsFromExprList in select.c).
                column = column.this.unnest()
            text = read_span(output, sql)
            if isinstance(first, exp.Column) and isinstance(column.expression, exp.Identifier):
                # A field of a column, whose name in DuckDB is the field's.
                text = column.name
            length += len(text)
            if isinstance(column, exp.Column):
                column.meta[_HEADING] = column.name if is_within or dialect == "duckdb" else text
            elif is_within and isinstance(column, exp.Boolean):
                unnamed.append((output, f"column{at + 1}"))
            else:
                unnamed.append((output, text))
    if length > MOST_CHARS:
        raise ParseError("The outputs without a name are too long: give them names.")
    for output, name in unnamed:
        _add_alias(output, name)


def keep_heading(column: exp.Column) -> None:
    """Writes the name of an output that is a column alone, which is about to be replaced."""
    heading = column.meta_get(_HEADING)
    if heading is not None:
        output: exp.Expr = column
        while isinstance(output.parent, exp.Collate | exp.Paren):
            output = output.parent
        _add_alias(output, heading)


def list_headings(query: exp.Expr | None) -> Iterator[str]:
    """The names that were written here for the outputs of a query, or of its parts."""
    for select in list_selects(query):
        for output in select.expressions:
            name = output.args.get("alias") if isinstance(output, exp.Alias) else None
            if isinstance(name, exp.Identifier) and name.meta_get(_HEADING):
                yield name.name


def _find_surroundings(select: exp.Select) -> exp.Expr | None:
    """What the columns of a SELECT go to; None for the whole query's."""
    node: exp.Expr = select
    while isinstance(around := node.parent, exp.SetOperation | exp.Subquery):
        if node.arg_key == "expression" and not around.args.get("by_name"):
            # The first query names the columns.
            return around
        node = around
    return node.parent


def _add_alias(output: exp.Expr, name: str) -> None:
    heading = exp.to_identifier(name, quoted=True)
    heading.meta[_HEADING] = True
    alias = exp.Alias(alias=heading)
    output.replace(alias)
    alias.set("this", output)


# The names under which sqlglot knows them.
READERS: dict[str, type[Dialect]] = {
    "postgres": GuardedPostgres,
    "sqlite": GuardedSqlite,
    "duckdb": GuardedDuckdb,
}


def parse_statements(sql: str, dialect: str) -> list[exp.Expr]:
    """The statements in ``sql``. Raises SqlglotError, RecursionError."""
    written, sql = sql, strip_comments(sql, dialect)
    statements = [
        tree
        for tree in parsing.parse_statements(sql, READERS[dialect])
        # A Semicolon node only carries the comment after the last statement.
        if tree is not None and not isinstance(tree, exp.Semicolon)
    ]
    for tree in statements:
        if dialect != "postgres":
            remove_parentheses(tree)
            write_headings(tree, sql if dialect == "duckdb" else written, dialect)
        spell_calls(tree, dialect, READERS[dialect].parser_class)
    if dialect == "sqlite":
        for tree in statements:
            record_spelling(tree, sql)
            normalize_identifiers(tree, dialect=READERS[dialect])
    return statements


def render_sql(tree: exp.Expr, dialect: str) -> str:
    """Renders the tree as SQL without comments, with names as written. Modifies the tree."""
    if dialect == "sqlite":
        restore_spelling(tree)
    return tree.sql(READERS[dialect], comments=False, copy=False)


_LONGEST = 80


def quote_fragment(node: exp.Expr) -> str:
    """The beginning of the node's text, in PostgreSQL's dialect, which can render every node.

    >>> quote_fragment(exp.column("id", table="orders"))
    'orders.id'
    """
    return node.sql(GuardedPostgres)[:_LONGEST]
