"""Results as Parquet, read back with pyarrow."""

from __future__ import annotations

import datetime as dt
import io
import subprocess
import sys
from decimal import Decimal
from typing import Any

import pyarrow.parquet as pq
import pytest

from execution.results.arrow_tables import build_table, render_parquet
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


@pytest.mark.parametrize(
    ("values", "arrow"),
    [
        ((True, None, False), "bool"),
        ((2**63 - 1, -(2**63)), "int64"),
        ((0.1, float("inf"), float("nan")), "double"),
        ((Decimal("12.50"), None, Decimal("-100")), "decimal128(5, 2)"),
        ((dt.date(2025, 6, 30), None), "date32[day]"),
        ((dt.time(8, 30, 0, 5),), "time64[us]"),
        ((NOON,), "timestamp[us]"),
        ((UTC_NOON,), "timestamp[us, tz=UTC]"),
        ((b"\x00\xff", b"a"), "binary"),
        (("a", None, ""), "string"),
        (([1, None], [], None), "list<item: int64>"),
        (([[1, 2], [3, 4]],), "list<item: list<item: int64>>"),
        (([dt.date(2025, 1, 1)],), "list<item: date32[day]>"),
        ((1, 2.5), "double"),
        ((None, None), "string"),
        ((), "string"),
    ],
)
def test_a_column_has_the_arrow_type_of_its_values(values: tuple[object, ...], arrow: str) -> None:
    result = build("some type", *values)
    table = read_parquet(render_parquet(result))
    # Parquet calls the items of a list "element".
    assert str(table.schema.field("v").type).replace("element:", "item:") == arrow
    found = table.column("v").to_pylist()
    assert all(one == other or one != one for one, other in zip(found, values, strict=True))


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ((dt.date(2025, 1, 1), "infinity"), ("2025-01-01", "infinity")),
        ((Decimal("1.50"), Decimal("NaN")), ("1.50", "NaN")),
        ((1, "x", None, 2.5), ("1", "x", None, "2.5")),
        ((2**53 + 1, 2.5), ("9007199254740993", "2.5")),
        ((10**37,), ("1" + 37 * "0",)),
        (("a", b"\xff"), ("a", "ff")),
        (([1], [[2]]), ("[1]", "[[2]]")),
        ((Interval(1, 0, 0),), ("P1M",)),
        ((dt.time(8, tzinfo=dt.UTC),), ("08:00:00+00:00",)),
        (({"a": [1]}, None), ('{"a": [1]}', None)),
    ],
)
def test_what_fits_no_type_is_text(
    values: tuple[object, ...], texts: tuple[str | None, ...]
) -> None:
    table = read_parquet(render_parquet(build("some type", *values)))
    assert str(table.schema.field("v").type) == "string"
    assert table.column("v").to_pylist() == list(texts)


def test_views_of_bytes_and_tuples_are_bytes_and_lists() -> None:
    for value, expected in ((memoryview(b"a"), b"a"), ((1, 2, 3), [1, 2, 3])):
        assert build_table(build("x", value)).column("v").to_pylist() == [expected]


def test_what_is_left_out_and_where_it_came_from_stays_with_the_rows() -> None:
    result = ResultSet(("a", "a"), ("int4", "text"), ((1, "x"),), True, 1.0, cut=((0, 1),))
    metadata = {"quorumsql.sql": "SELECT 'é'"}
    table = read_parquet(render_parquet(result, metadata))
    assert table.column_names == ["a", "a_2"]
    told = {key.decode(): value.decode() for key, value in table.schema.metadata.items()}
    assert told["quorumsql.sql"] == "SELECT 'é'"
    assert (told["quorumsql.truncated"], told["quorumsql.cut_cells"]) == ("true", "1")
    assert table.schema.field("a_2").metadata[b"quorumsql.type"] == b"text"


async def test_whatever_postgresql_gives_can_be_exported(open_database: Opener) -> None:
    database = open_database()
    outputs = ", ".join(f"{sql} AS v{at}" for at, (_, sql, *_) in enumerate(VALUES))
    result = await run(database, f"SELECT {outputs}")
    table = read_parquet(render_parquet(result))
    assert (table.num_columns, table.num_rows) == (len(VALUES), 1)
    types = [str(field.type) for field in build_table(result).schema]
    assert {"bool", "int64", "date32[day]", "timestamp[us, tz=UTC]", "binary"} <= set(types)


def test_pyarrow_is_loaded_only_by_who_exports() -> None:
    code = "import sys, serve_app.http.app; sys.exit('pyarrow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=False, timeout=120)
    assert done.returncode == 0
