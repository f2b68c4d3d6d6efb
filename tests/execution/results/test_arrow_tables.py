"""Results as Parquet and Arrow, read back with pyarrow."""

from __future__ import annotations

import datetime as dt
import io
import subprocess
import sys
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from execution.results.arrow_tables import build_table, render_arrow_stream, render_parquet
from nl2sql.results.json_values import Interval
from nl2sql.types import ResultSet
from tests.execution.conftest import Opener
from tests.execution.postgres.test_values import VALUES, run

NOON = dt.datetime(2025, 6, 30, 12, 0, 0, 5)
UTC_NOON = NOON.replace(tzinfo=dt.UTC)


def build(kind: str, *values: object) -> ResultSet:
    return ResultSet(("v",), (kind,), tuple((value,) for value in values), truncated=False, ms=1.0)


def read_parquet(content: bytes) -> Any:
    return pq.read_table(io.BytesIO(content))


def read_stream(content: bytes) -> Any:
    return pa.ipc.open_stream(content).read_all()


@pytest.mark.parametrize(
    ("kind", "values", "arrow", "expected"),
    [
        ("bool", (True, None, False), "bool", None),
        ("int2", (1, -32768), "int16", None),
        ("int4", (1, None), "int32", None),
        ("int8", (2**63 - 1, -(2**63)), "int64", None),
        ("integer", (1, 2**40), "int64", None),
        ("BIGINT", (1,), "int64", None),
        ("float4", (0.5,), "float", None),
        ("real", (0.1, float("inf")), "double", None),
        ("DOUBLE", (0.1,), "double", None),
        ("numeric(12,2)", (Decimal("12.50"), None), "decimal128(12, 2)", None),
        ("numeric(12)", (Decimal(7),), "decimal128(12, 0)", None),
        ("DECIMAL(18,3)", (Decimal("1.500"),), "decimal128(18, 3)", None),
        ("numeric", (Decimal("1.5"), Decimal("-100")), "decimal128(4, 1)", None),
        ("numeric", (Decimal(10) ** 30, Decimal("1E-20")), "decimal256(51, 20)", None),
        ("HUGEINT", (10**37,), "decimal128(38, 0)", (Decimal(10**37),)),
        ("numeric", (), "decimal128(1, 0)", None),
        ("date", (dt.date(2025, 6, 30), None), "date32[day]", None),
        ("time", (dt.time(8, 30, 0, 5),), "time64[us]", None),
        ("timestamp", (NOON,), "timestamp[us]", None),
        ("timestamptz", (UTC_NOON,), "timestamp[us, tz=UTC]", None),
        ("TIMESTAMP WITH TIME ZONE", (UTC_NOON,), "timestamp[us, tz=UTC]", None),
        ("bytea", (b"\x00\xff", memoryview(b"a")), "binary", (b"\x00\xff", b"a")),
        ("BLOB", (b"a",), "binary", None),
        ("text", ("a", None, ""), "string", None),
        ("varchar(20)", ("a",), "string", None),
        ("int4[]", ([1, None], [], None), "list<item: int32>", None),
        ("int4[]", ([[1, 2], [3, 4]],), "list<item: list<item: int32>>", None),
        ("text[]", (["a"],), "list<item: string>", None),
        ("numeric(5,1)[]", ([Decimal("1.5")],), "list<item: decimal128(5, 1)>", None),
        ("date[]", ([dt.date(2025, 1, 1)],), "list<item: date32[day]>", None),
        ("INTEGER[3]", ((1, 2, 3),), "list<item: int64>", ([1, 2, 3],)),
        # What fits no type is text.
        ("date", (dt.date(2025, 1, 1), "infinity"), "string", ("2025-01-01", "infinity")),
        ("numeric", (Decimal("1.50"), Decimal("NaN")), "string", ("1.50", "NaN")),
        ("numeric(1000,2)", (Decimal("1.50"),), "string", ("1.50",)),
        ("integer", (1, "x", None, 2.5), "string", ("1", "x", None, "2.5")),
        ("integer", (1, 2.5), "double", (1.0, 2.5)),
        ("integer", (2**53 + 1, 2.5), "string", ("9007199254740993", "2.5")),
        ("real", (1.5, 2), "double", (1.5, 2.0)),
        ("text", ("a", b"\xff"), "string", ("a", "ff")),
        ("int2", (40_000,), "string", ("40000",)),
        ("int4[]", ([1], [[2]]), "string", ("[1]", "[[2]]")),
        ("interval", (Interval(1, 0, 0),), "string", ("P1M",)),
        ("timetz", (dt.time(8, tzinfo=dt.UTC),), "string", ("08:00:00+00:00",)),
        ("jsonb", ({"a": [1]}, None), "string", ('{"a": [1]}', None)),
        ("STRUCT(a INTEGER)", ({"a": 1},), "string", ('{"a": 1}',)),
        ("", (None, None), "string", None),
        ("some.type(3)", ("x",), "string", None),
    ],
)
def test_a_column_has_the_arrow_type_of_its_values(
    kind: str, values: tuple[object, ...], arrow: str, expected: tuple[object, ...] | None
) -> None:
    result = build(kind, *values)
    for table in (read_parquet(render_parquet(result)), read_stream(render_arrow_stream(result))):
        # Parquet calls the items of a list "element".
        assert str(table.schema.field("v").type).replace("element:", "item:") == arrow
        assert table.column("v").to_pylist() == list(values if expected is None else expected)


def test_what_is_left_out_and_where_it_came_from_stays_with_the_rows() -> None:
    result = ResultSet(("a", "a"), ("int4", "text"), ((1, "x"),), True, 1.0, cut=((0, 1),))
    metadata = {"quorumsql.sql": "SELECT 'é'"}
    for table in (
        read_parquet(render_parquet(result, metadata)),
        read_stream(render_arrow_stream(result, metadata)),
    ):
        assert table.column_names == ["a", "a_2"]
        told = {key.decode(): value.decode() for key, value in table.schema.metadata.items()}
        assert told["quorumsql.sql"] == "SELECT 'é'"
        assert (told["quorumsql.truncated"], told["quorumsql.cut_cells"]) == ("true", "1")
        assert table.schema.field("a_2").metadata[b"quorumsql.type"] == b"text"


async def test_whatever_postgresql_gives_can_be_exported(open_database: Opener) -> None:
    database = open_database()
    outputs = ", ".join(f"{sql} AS v{at}" for at, (_, sql, *_) in enumerate(VALUES))
    result = await run(database, f"SELECT {outputs}")
    for table in (read_parquet(render_parquet(result)), read_stream(render_arrow_stream(result))):
        assert (table.num_columns, table.num_rows) == (len(VALUES), 1)
    types = [str(field.type) for field in build_table(result).schema]
    assert {"bool", "int64", "date32[day]", "timestamp[us, tz=UTC]", "binary"} <= set(types)


def test_pyarrow_is_loaded_only_by_who_exports() -> None:
    code = "import sys, serve_app.http.app; sys.exit('pyarrow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=False, timeout=120)
    assert done.returncode == 0
