"""The rows of the demo ERP: ``rows.jsonl.xz``, one line a table, in loading order.

A line is a JSON object: ``table`` (``schema.table``), ``columns``, and ``values``, the values of
each column from the first row to the last. Dates, timestamps and decimal numbers are texts, as
COPY reads them. In a table that refers to itself, parents come first, so that COPY in this order
satisfies every foreign key. Writes to no database.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator
from dataclasses import dataclass

from data.demo_erp import ROWS

Row = tuple[str | int | bool | None, ...]


@dataclass(frozen=True, slots=True)
class TableRows:
    """The rows of one table: ``table`` is ``schema.table``, each row follows ``columns``."""

    table: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def read_tables() -> Iterator[TableRows]:
    """Yields every table once, each after those its foreign keys point to."""
    for line in lzma.decompress(ROWS.read_bytes()).decode().splitlines():
        value = json.loads(line)
        rows = tuple(zip(*value["values"], strict=True))
        yield TableRows(value["table"], tuple(value["columns"]), rows)
