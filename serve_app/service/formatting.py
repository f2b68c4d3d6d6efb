"""``POST /format``: SQL on several lines, as written; nothing is run."""

from __future__ import annotations

from sqlglot.errors import SqlglotError

from execution.guard_dialects import READERS
from nl2sql.errors import InvalidRequest
from nl2sql.sql.parsing import MOST_CHARS, describe_parse_error, parse_statements
from nl2sql.sql.threads import run_in_parser_thread
from serve_app.service.texts import check_filled


async def format_sql(sql: str, dialect: str) -> str:
    """The statements with indented clauses; comments are kept. Raises InvalidRequest."""
    text = check_filled("sql", sql, MOST_CHARS)
    try:
        return await run_in_parser_thread(_format, text, dialect)
    except (SqlglotError, RecursionError) as error:
        raise InvalidRequest(
            f"It cannot be read: {describe_parse_error(error)}", field="sql"
        ) from error


def _format(sql: str, dialect: str) -> str:
    """The text on several lines.

    >>> print(_format("select a, now() /* today */ from t where a > 1", "postgres"))
    SELECT
      a,
      NOW() /* today */
    FROM t
    WHERE
      a > 1
    """
    # The guard's readers keep the names of functions; sqlglot's own would translate them.
    reader = READERS[dialect]
    trees = (tree for tree in parse_statements(sql, reader) if tree is not None)
    return ";\n\n".join(tree.sql(reader, pretty=True) for tree in trees)
