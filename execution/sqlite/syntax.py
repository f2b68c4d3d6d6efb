"""Whether SQLite's own parser accepts a text.

sqlglot reads more than SQLite: a missing parenthesis, FROM without SELECT, OFFSET without LIMIT.
What it made of such a text would have a meaning that the text has not. SQLite parses the whole text
before it looks for tables, so an empty database tells.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing

from execution.sqlite.errors import build_diagnostic
from nl2sql.types import Violation

_SYNTAX_ERROR = "42601"


def check_syntax(sql: str) -> Violation | None:
    """Returns None if SQLite reads the text, whatever it would say of names."""
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            # Nothing runs: SQLite compiles the query and lists the steps.
            connection.execute(f"EXPLAIN {sql}")
        except (sqlite3.Error, sqlite3.Warning) as error:
            if build_diagnostic(error).sqlstate == _SYNTAX_ERROR:
                return Violation("unparsable", "", f"SQLite does not accept it: {error}")
    return None
