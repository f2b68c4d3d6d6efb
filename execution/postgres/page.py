"""Builds the query that fetches a page, so that no cell can fill the service's memory.

A client can limit rows, but would have to receive a cell of a gigabyte completely. So the columns
are described first, without rows, and the page is fetched by a query around the query, which cuts
every column whose type does not bound its size: text with ``left``, bytea with ``substring``, all
other types as text, which is converted back to a value unless it was too long. Columns are named by
their number, since two may have the same name.

Knows types by their OID, which for built-in types is the same in every server. Runs nothing. Does
not limit the memory of the server itself, where the cell is computed before it is cut.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from psycopg.postgres import types

from execution.results.collector import PageQuery, share_cell_bytes
from nl2sql.settings import LimitSettings

# The text before the query in a statement; positions in errors count from its end.
DESCRIBE_PREFIX = "SELECT * FROM (\n"

_MOST_ROWS_A_CHUNK = 100
# A chunk is read without a pause in the event loop, by several queries in turn.
_MOST_CELLS_A_CHUNK = 3000
# The longest text of a type of fixed size (a box), rounded up.
_FIXED_BYTES = 256
# The most bytes of a UTF-8 letter.
_LETTER_BYTES = 4

_FIXED_NAMES = (
    'bool "char" name int2 int4 int8 oid float4 float8 money date time timetz timestamp '
    "timestamptz interval uuid inet cidr macaddr macaddr8 point lseg box line circle pg_lsn tid"
)
_FIXED_TYPES = frozenset(types[name].oid for name in _FIXED_NAMES.split())
_VARCHAR, _BPCHAR, _BYTEA, _NUMERIC = (
    types[name].oid for name in ("varchar", "bpchar", "bytea", "numeric")
)
# Types that stay text, whose beginning is useful when they are cut.
_TEXT_TYPES = frozenset(types[name].oid for name in ("text", "varchar", "bpchar"))


@dataclass(frozen=True, slots=True)
class DescribedColumn:
    """A column as the server describes it. ``modifier`` is PostgreSQL's typmod, -1 for none.

    ``load`` converts its text to the value.
    """

    oid: int
    modifier: int
    load: Callable[[str], object]


def build_description(sql: str) -> str:
    """The query that returns no rows, only its columns.

    PostgreSQL plans almost nothing under WHERE false; under LIMIT 0 it would plan everything.
    """
    return f"{DESCRIBE_PREFIX}{sql}\n) AS page WHERE false"


def build_page(
    sql: str, columns: Sequence[DescribedColumn], most_rows: int, limits: LimitSettings
) -> PageQuery:
    """The query for the first ``most_rows`` rows.

    Of a cell that is too long, one letter or byte more arrives than ``limits`` allow.
    """
    longest = share_cell_bytes(limits, len(columns))
    outputs, readers, row_bytes = [], {}, 0
    for at, column in enumerate(columns):
        name = f"c{at + 1}"
        bound = _find_bound(column)
        if bound is not None and bound <= longest:
            outputs.append(name)
            row_bytes += bound
            continue
        outputs.append(_cut(name, column.oid, longest + 1))
        row_bytes += _LETTER_BYTES * (longest + 1)
        if column.oid != _BYTEA and column.oid not in _TEXT_TYPES:
            readers[at] = column.load
    names = f"({', '.join(f'c{at + 1}' for at in range(len(columns)))})" if columns else ""
    return PageQuery(
        sql=f"SELECT {', '.join(outputs)} FROM (\n{sql}\n) AS page{names} LIMIT {most_rows}",
        readers=readers,
        rows_a_chunk=max(
            min(
                limits.result_bytes // max(row_bytes, 1),
                _MOST_CELLS_A_CHUNK // max(len(columns), 1),
                _MOST_ROWS_A_CHUNK,
            ),
            1,
        ),
    )


def _find_bound(column: DescribedColumn) -> int | None:
    """The most bytes that the text of a value can have; None if the type does not bound it."""
    declared = column.modifier - 4  # PostgreSQL counts a header of four bytes in
    if column.oid in _FIXED_TYPES:
        return _FIXED_BYTES
    if declared >= 0 and column.oid in (_VARCHAR, _BPCHAR):
        return _LETTER_BYTES * declared
    if declared >= 0 and column.oid == _NUMERIC:
        precision, scale = declared >> 16, declared & 0x7FF
        # A scale may be negative, or larger than the precision; each is at most 1,000.
        return precision + max(scale if scale < 1024 else 2048 - scale, 0) + 3
    return None


def _cut(name: str, oid: int, length: int) -> str:
    if oid == _BYTEA:
        return f"substring({name} FROM 1 FOR {length})"
    if oid == _BPCHAR:
        # As text it would lose its trailing blanks; rpad cuts too.
        return (
            f"CASE WHEN octet_length({name}) < {length} THEN {name} "
            f"ELSE rpad({name}::text, {length})::bpchar END"
        )
    return f"left({name}::text, {length})"
