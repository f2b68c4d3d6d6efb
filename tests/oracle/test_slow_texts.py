"""Texts that once stopped the service, in all ways of reading them; how the search builds others.

Nothing here looks at a clock. Before parsing was bounded, most of these took minutes to years.
"""

from __future__ import annotations

import pytest

from execution.guard.guard import guard_query
from nl2sql.types import GuardedQuery, Violation
from tests.oracle.slow_texts import LONGEST, Shape
from tests.oracle.text_stages import DIALECTS, build_stages, open_shop

NESTED = ("DATE(", "STRUCT(", "DECIMAL(", "TIMESTAMP(", "VARCHAR(")
LONG = (
    Shape("SELECT CAST(id AS", "\n", "substring(a FROM ", ")", " FROM orders"),
    Shape("VALUES ", "a,@", "1", "]", "]"),
    Shape("SELECT 1 + ", "count(substring(a FROM ", "id", ") a", ""),
    Shape("SELECT o.id FROM ", "orders o#, ", "", "", "orders o"),
    Shape("SELECT ", "orders o#, ", "", "", "1 FROM orders o"),
    Shape("WITH a AS (SELECT id FROM orders), ", "a# AS (SELECT a.id FROM a AS b#, a), ", "", "",
          " b AS (SELECT 1) SELECT a.id FROM a"),
    Shape("SELECT ", "(", "1", ")", " FROM orders"),
    Shape("SELECT id FROM orders WHERE ", "id = 1 OR ", "", "", "true"),
    Shape("", "(", "", "", ""),
    Shape("SELECT ", "/*", "", "", ""),
    Shape("SELECT ", "$a#$", "", "", ""),
    Shape("WITH ", "[WITH ", "", "", ""),
)  # fmt: skip


@pytest.mark.parametrize("opening", NESTED)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_nest_of_type_words_is_refused(dialect: str, opening: str) -> None:
    shop = open_shop(dialect)
    verdict = guard_query(f"SELECT {opening * 17}1{')' * 17}", shop.access)
    assert isinstance(verdict, Violation)
    assert verdict.code == "unparsable"
    assert "too many ways" in verdict.message


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_is_not_long_still_passes(dialect: str) -> None:
    shop = open_shop(dialect)
    for sql in (
        "SELECT CAST(CAST(CAST(total AS integer) AS integer) AS integer) FROM orders",
        f"SELECT id FROM orders WHERE id IN ({', '.join(map(str, range(1000)))})",
        "SELECT " + "(" * 12 + "id" + ")" * 12 + " FROM orders",
    ):
        assert isinstance(guard_query(sql, shop.access), GuardedQuery), sql[:60]


@pytest.mark.parametrize("shape", LONG, ids=lambda shape: repr(shape.opening))
@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_way_of_reading_ends(dialect: str, shape: Shape) -> None:
    for stage, read in build_stages(dialect).items():
        result = read(shape.build(LONGEST))
        assert stage != "guard" or isinstance(result, Violation)


@pytest.mark.parametrize("length", [500, LONGEST])
def test_a_shape_fills_the_length_that_is_asked_for(length: int) -> None:
    text = Shape("SELECT ", "f#(", "1", ")", " FROM t").build(length)
    assert length - 10 < len(text) <= length
    assert text.startswith("SELECT f0(f1(f2(")
    assert text.endswith(") FROM t")
    assert text.count("(") == text.count(")")
