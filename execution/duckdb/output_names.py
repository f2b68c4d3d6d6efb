"""DuckDB's names for outputs without AS: the text of its own tree of each."""

from __future__ import annotations

import json
from collections.abc import Sequence

import duckdb
from sqlglot.errors import ParseError

from execution.duckdb.second_check import open_parser

_BEFORE = "SELECT "
_NAMES = """
SELECT tree, json_deserialize_sql(tree)
FROM (SELECT json_serialize_sql(text) AS tree FROM (SELECT unnest($1) AS text))
"""


def name_outputs(texts: Sequence[str]) -> list[str]:
    """The names of the outputs with these texts. Raises ParseError if one is no expression.

    >>> name_outputs(["count(*)", "a+1", "CURRENT_DATE"])
    ['count_star()', '(a + 1)', 'CURRENT_DATE']
    """
    if not texts:
        return []
    try:
        with open_parser().cursor() as connection:
            rows = connection.execute(_NAMES, [[_BEFORE + text for text in texts]]).fetchall()
    except (duckdb.Error, UnicodeError) as error:
        raise ParseError("DuckDB's parser does not accept an output.") from error
    return [_read_name(json.loads(tree)["statements"], text) for tree, text in rows]


def _read_name(statements: list[dict[str, dict[str, list[dict[str, object]]]]], text: str) -> str:
    outputs = statements[0]["node"]["select_list"]
    if len(statements) + len(outputs) != 2 or outputs[0]["alias"]:
        raise ParseError("DuckDB's parser reads more than one output.")
    names = outputs[0].get("column_names")
    # A word that sqlglot does not take for a column: its name has no quotes.
    return str(names[-1]) if isinstance(names, list) else text.removeprefix(_BEFORE)
