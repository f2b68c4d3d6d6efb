"""Converts a result to an Arrow table, and writes it as Parquet.

A column gets the Arrow type that pyarrow finds for its values: whole numbers, doubles, decimals,
dates, timestamps in microseconds, times, bytes, text, and lists of these. Values of other types
become text: intervals (ISO 8601), json, UUIDs. So does a whole column if its values have no type in
common, such as dates and one at infinity: no value is ever changed to fit. A column without values
is text.

pyarrow is imported at the first use: it costs a second and 50 MB that most questions do not need.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING

from execution.results.exports import name_columns, render_text
from nl2sql.types import ResultSet

if TYPE_CHECKING:
    import pyarrow as pa

_KNOWN = (bool, int, float, Decimal, dt.date, dt.time, bytes, str)
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
        array = _build_array([_simplify(row[at]) for row in result.rows])
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


def _simplify(value: object) -> object:
    """Lists for tuples, bytes for views of them."""
    if isinstance(value, list | tuple):
        return [_simplify(item) for item in value]
    return bytes(value) if isinstance(value, bytearray | memoryview) else value


def _build_array(values: Sequence[object]) -> pa.Array:
    import pyarrow as pa

    # In parts: one call over a long column would keep other threads waiting.
    parts = [values[at : at + _PART_ROWS] for at in range(0, len(values), _PART_ROWS)]
    if all(map(_is_known, values)):
        try:
            type_ = pa.infer_type(values)
            arrays = [pa.array(part, type=type_) for part in parts]
        except (pa.ArrowException, OverflowError, TypeError):
            arrays = []
        holds = all(map(_holds, arrays, parts))
        if arrays and holds and not pa.types.is_null(type_):
            return pa.concat_arrays(arrays)
    texts = [[None if value is None else render_text(value) for value in part] for part in parts]
    return pa.concat_arrays([pa.array(part, type=pa.string()) for part in (texts or [[]])])


def _is_known(value: object) -> bool:
    if isinstance(value, list):
        return all(map(_is_known, value))
    return value is None or isinstance(value, _KNOWN)


def _holds(array: pa.Array, values: Sequence[object]) -> bool:
    """Whether the array gives back the values; NaN is not equal to itself."""
    found = array.to_pylist()
    return all(
        one == other or (one != one and other != other)
        for one, other in zip(found, values, strict=True)
    )
