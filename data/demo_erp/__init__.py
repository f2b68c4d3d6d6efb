"""The demo database: the ERP of Velmark Cycles, a bicycle maker that does not exist.

Ten modules, one schema each. The ERP's today is 2025-06-30, whatever the clock says.

- ``schema.sql``: schemas, tables, keys, comments, indexes (PostgreSQL)
- ``rows.jsonl.xz``: the rows of every table, in loading order
- ``questions.jsonl``: 40 questions with gold SQL
- ``business_questions.jsonl``: 30 questions in the words of the business, 28 with gold SQL
- ``definition_questions.jsonl``: 36 questions that name a definition of ``semantics.yaml``
- ``first_questions.jsonl``: 30 questions that newcomers ask, in three languages, 23 with gold SQL
- ``examples.jsonl``: verified questions that are shown to the model; none of ``questions.jsonl``
- ``translations.jsonl``: 20 of the 40 questions in eight other languages
- ``policy.yaml``: who may see which tables, rows and columns
- ``quorumsql.yaml``: the settings that name all this, for a folder without any of its own
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

ROWS = files(__name__).joinpath("rows.jsonl.xz")
SCHEMA_SQL = files(__name__).joinpath("schema.sql")
QUESTIONS = files(__name__).joinpath("questions.jsonl")
BUSINESS_QUESTIONS = files(__name__).joinpath("business_questions.jsonl")
DEFINITION_QUESTIONS = files(__name__).joinpath("definition_questions.jsonl")
FIRST_QUESTIONS = files(__name__).joinpath("first_questions.jsonl")
EXAMPLES = files(__name__).joinpath("examples.jsonl")
TRANSLATIONS = files(__name__).joinpath("translations.jsonl")
SETTINGS = Path(__file__).with_name("quorumsql.yaml")

Row = tuple[str | int | bool | None, ...]


@dataclass(frozen=True, slots=True)
class TableRows:
    """The rows of one table: ``table`` is ``schema.table``, each row follows ``columns``."""

    table: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def read_tables() -> Iterator[TableRows]:
    """Yields every table once, each after those its foreign keys point to.

    A line of the file is a JSON object: ``table`` (``schema.table``), ``columns``, and ``values``,
    the values of each column from the first row to the last. Dates, timestamps and decimal numbers
    are texts, as COPY reads them. In a table that refers to itself, parents come first.
    """
    for line in lzma.decompress(ROWS.read_bytes()).decode().splitlines():
        value = json.loads(line)
        rows = tuple(zip(*value["values"], strict=True))
        yield TableRows(value["table"], tuple(value["columns"]), rows)
