"""What one gold in defog's notation stands for."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter

import pytest

from data.benchmarks.gold_variants import MAX_VARIANTS, expand_gold
from tests.golden import load_cases

# What stands in literals and comments means nothing.
PLAIN = "SELECT ';', E'\\';{', $$;}$$, \"a;b\", '{1,2}'::int[] -- ; {\nFROM t /* ; { */"
GOLDS = [
    (gold, [sql for _, sql in cases])
    for gold, cases in groupby(load_cases("gold_variants"), key=itemgetter(0))
]


@pytest.mark.parametrize(("gold", "variants"), [*GOLDS, (PLAIN, [PLAIN])])
def test_a_gold_stands_for_these_queries(gold: str, variants: list[str]) -> None:
    assert list(expand_gold(gold)) == variants


@pytest.mark.parametrize(
    ("gold", "complaint"),
    [
        (" ; ", "no query"),
        ("SELECT {a FROM t", "without its }"),
        ("SELECT a} FROM t", "without its {"),
        ("SELECT {a, {b}} FROM t", "inside of braces"),
        ("SELECT {a, } FROM t", "empty column"),
        ("SELECT a FROM t GROUP BY {}", "before any column"),
        ("SELECT {a, b, c, d, e, f, g, h, i} FROM t", str(MAX_VARIANTS)),
        ("SELECT {a, b, c, d, e}, {f, g, h, i, j} FROM t", str(MAX_VARIANTS)),
        (";".join(f"SELECT {n}" for n in range(MAX_VARIANTS + 1)), str(MAX_VARIANTS)),
    ],
)
def test_what_is_wrong_is_named(gold: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        expand_gold(gold)
