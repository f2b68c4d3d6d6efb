"""Converts a result to an Arrow table, and writes it as Parquet or as an Arrow IPC stream.

A column gets the Arrow type of its database type if all its values fit: whole numbers and doubles
by width, ``numeric`` as decimal128 (decimal256 past 38 digits), dates, timestamps in microseconds,
times, bytes, and lists of these. Types that not both formats can store become text: intervals (ISO
8601), json, ranges, UUIDs, enums. So does a whole column if one value does not fit its type, such
as a date at infinity, a numeric NaN, or a mixed column of SQLite: no value is ever changed to fit.

pyarrow is imported at the first use: it costs a second and 50 MB that most questions do not need.
Knows the type names of PostgreSQL, SQLite and DuckDB. Does not cover structs and maps.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from execution.results.exports import name_columns, render_text
from nl2sql.types import ResultSet

if TYPE_CHECKING:
    import pyarrow as pa

# numeric(12,2), timestamp with time zone, int4[][]
_KIND = re.compile(r"([^(\[]+?) ?(?:\(([\d, ]+)\))?([^(\[]*)((?:\[\d*\])*)")
_NAMES = {
    "bool": ("bool", "boolean"),
    "int16": ("int2", "smallint"),
    "int32": ("int4",),
    "int64": ("int8", "integer", "bigint", "oid", "tinyint", "utinyint", "usmallint", "uinteger"),
    "decimal": ("numeric", "decimal", "hugeint", "uhugeint", "ubigint"),
    "float": ("float4",),
    "double": ("float8", "double", "float", "real"),
    "date": ("date",),
    "time": ("time",),
    "timestamp": ("timestamp", "timestamp_s", "timestamp_ms"),
    "timestamptz": ("timestamptz", "timestamp with time zone"),
    "binary": ("bytea", "blob"),
    "string": ("text", "varchar", "bpchar", "name"),
}
_BY_NAME = {name: arrow for arrow, names in _NAMES.items() for name in names}
_PYTHON_TYPES: Mapping[str, tuple[type, ...]] = {
    "bool": (bool,),
    "int16": (int,),
    "int32": (int,),
    "int64": (int,),
    "decimal": (Decimal, int),
    "float": (float,),
    "double": (float, int),
    "date": (dt.date,),
    "time": (dt.time,),
    "timestamp": (dt.datetime,),
    "timestamptz": (dt.datetime,),
    "binary": (bytes, bytearray, memoryview),
    "string": (str,),
}
# An SQLite column of whole numbers may contain other values too.
_NEXT = {"int64": ("int64", "double")}
# From this number on a double cannot represent every whole number.
_DOUBLE_ENDS = 2**53
_MOST_DIGITS = 76
_PART_ROWS = 32


def build_table(result: ResultSet, metadata: Mapping[str, str] = MappingProxyType({})) -> pa.Table:
    """The result as a table. A second column with the same name is called ``name_2``.

    The schema's metadata contains ``metadata``, ``quorumsql.truncated`` and
    ``quorumsql.cut_cells``; that of each field contains ``quorumsql.type``, its database type.
    """
    import pyarrow as pa

    names = name_columns(result.columns)
    fields, arrays = [], []
    for at, (name, kind) in enumerate(zip(names, result.types, strict=True)):
        array = _build_array([row[at] for row in result.rows], kind)
        arrays.append(array)
        fields.append(pa.field(name, array.type, metadata={"quorumsql.type": kind}))
    told = {
        **metadata,
        "quorumsql.truncated": str(result.truncated).lower(),
        "quorumsql.cut_cells": str(len(result.cut)),
    }
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields, metadata=told))


def render_parquet(result: ResultSet, metadata: Mapping[str, str] = MappingProxyType({})) -> bytes:
    """A Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    output = pa.BufferOutputStream()
    pq.write_table(build_table(result, metadata), output)
    return bytes(output.getvalue())


def render_arrow_stream(
    result: ResultSet, metadata: Mapping[str, str] = MappingProxyType({})
) -> bytes:
    """A stream of Arrow's IPC format."""
    import pyarrow as pa

    table = build_table(result, metadata)
    output = pa.BufferOutputStream()
    with pa.ipc.new_stream(output, table.schema) as stream:
        stream.write_table(table)
    return bytes(output.getvalue())


def _build_array(values: Sequence[object], kind: str) -> pa.Array:
    import pyarrow as pa

    found = _KIND.fullmatch(kind.strip().lower())
    name, modifiers, rest, lists = found.groups(default="") if found else ("", "", "", "")
    arrow = _BY_NAME.get(f"{name}{rest}", "")
    leaves = list(_iterate_leaves(values)) if lists else values
    depth = _measure_depth(values) if lists else 0
    for candidate in _NEXT.get(arrow, (arrow,) if arrow else ()):
        type_ = _find_type(candidate, modifiers, leaves)
        if type_ is None or depth is None:
            continue
        for _ in range(depth):
            type_ = pa.list_(type_)
        try:
            return _convert(values, type_)
        except (pa.ArrowException, OverflowError):
            continue  # a value is too large for the type
    texts = [None if value is None else render_text(value) for value in values]
    return _convert(texts, pa.string())


def _convert(values: Sequence[object], type_: pa.DataType) -> pa.Array:
    """The values as an array. Raises ArrowException, OverflowError."""
    import pyarrow as pa

    # In parts: one call over a long column would stop the event loop from another thread.
    starts = range(0, len(values), _PART_ROWS)
    parts = [pa.array(values[start : start + _PART_ROWS], type=type_) for start in starts]
    return pa.concat_arrays(parts) if parts else pa.array([], type=type_)


def _find_type(arrow: str, modifiers: str, values: Sequence[object]) -> pa.DataType | None:
    """The Arrow type that represents all values exactly, or None."""
    import pyarrow as pa

    present = [value for value in values if value is not None]
    if not all(_is_of(value, arrow) for value in present):
        return None
    if arrow == "decimal":
        return _find_decimal(modifiers, [Decimal(value) for value in present])  # type: ignore[arg-type]
    makers: dict[str, Callable[[], Any]] = {
        "bool": pa.bool_,
        "int16": pa.int16,
        "int32": pa.int32,
        "int64": pa.int64,
        "float": pa.float32,
        "double": pa.float64,
        "date": pa.date32,
        "time": lambda: pa.time64("us"),
        "timestamp": lambda: pa.timestamp("us"),
        "timestamptz": lambda: pa.timestamp("us", tz="UTC"),
        "binary": pa.binary,
        "string": pa.string,
    }
    return makers[arrow]()


def _is_of(value: object, arrow: str) -> bool:
    """Python counts a bool as an int and a datetime as a date; a database does not."""
    if isinstance(value, bool) != (arrow == "bool"):
        return False
    if arrow == "date" and isinstance(value, dt.datetime):
        return False
    if isinstance(value, dt.datetime) and (value.tzinfo is None) == (arrow == "timestamptz"):
        return False
    if isinstance(value, dt.time) and value.tzinfo is not None:
        return False
    if arrow == "double" and isinstance(value, int) and abs(value) > _DOUBLE_ENDS:
        return False
    return isinstance(value, _PYTHON_TYPES[arrow])


def _find_decimal(modifiers: str, values: Sequence[Decimal]) -> pa.DataType | None:
    """The decimal type by declared precision and scale, or as wide as the values need."""
    import pyarrow as pa

    if not all(value.is_finite() for value in values):
        return None
    declared = [int(text) for text in modifiers.split(",")] if modifiers else []
    if declared:
        precision, scale = declared[0], declared[1] if len(declared) > 1 else 0
    else:
        parts = [value.as_tuple() for value in values]
        scale = max((max(-int(part.exponent), 0) for part in parts), default=0)
        whole = max((len(part.digits) + int(part.exponent) for part in parts), default=1)
        precision = max(whole, 1) + scale
    if not 0 <= scale <= precision or not 1 <= precision <= _MOST_DIGITS:
        return None
    return (pa.decimal128 if precision <= 38 else pa.decimal256)(precision, scale)


def _iterate_leaves(values: Sequence[object]) -> Iterator[object]:
    for value in values:
        if isinstance(value, list | tuple):
            yield from _iterate_leaves(value)
        else:
            yield value


def _measure_depth(values: Sequence[object]) -> int | None:
    """The nesting depth of the lists in a column; None if its values differ."""
    depths = {_nest(value) for value in values if value is not None and value != []}
    return None if len(depths) > 1 else depths.pop() if depths else 1


def _nest(value: object) -> int:
    if not isinstance(value, list | tuple):
        return 0
    return 1 + max(map(_nest, value), default=0)
