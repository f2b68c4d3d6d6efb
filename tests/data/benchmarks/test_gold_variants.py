"""What one gold in defog's notation stands for."""

from __future__ import annotations

import pytest

from data.benchmarks.gold_variants import MAX_VARIANTS, expand_gold


@pytest.mark.parametrize(
    ("gold", "variants"),
    [
        pytest.param("SELECT 1 ;", ["SELECT 1"], id="one_query"),
        pytest.param("SELECT 1; ;SELECT 2;", ["SELECT 1", "SELECT 2"], id="alternatives"),
        pytest.param("SELECT 1; SELECT 1", ["SELECT 1"], id="doubles"),
        pytest.param(
            "SELECT {a, b, c} FROM t",
            [
                f"SELECT {chosen} FROM t"
                for chosen in ("a, b, c", "a, b", "a, c", "b, c", "a", "b", "c")
            ],
            id="every_choice_the_fullest_first",
        ),
        pytest.param(
            "SELECT {m.mid, m.name}, m.c, sum(x) FROM m GROUP BY {}, m.c",
            [
                "SELECT m.mid, m.name, m.c, sum(x) FROM m GROUP BY m.mid, m.name, m.c",
                "SELECT m.mid, m.c, sum(x) FROM m GROUP BY m.mid, m.c",
                "SELECT m.name, m.c, sum(x) FROM m GROUP BY m.name, m.c",
            ],
            id="group_by",
        ),
        pytest.param(
            'SELECT {a AS x, round(b, 2) as "y z"} FROM t GROUP BY { }',
            [
                'SELECT a AS x, round(b, 2) as "y z" FROM t GROUP BY a, round(b, 2)',
                "SELECT a AS x FROM t GROUP BY a",
                'SELECT round(b, 2) as "y z" FROM t GROUP BY round(b, 2)',
            ],
            id="aliases_and_brackets",
        ),
        pytest.param(
            "SELECT {a, b}, {c} FROM t GROUP BY {}",
            [
                "SELECT a, b, c FROM t GROUP BY a, b, c",
                "SELECT a, c FROM t GROUP BY a, c",
                "SELECT b, c FROM t GROUP BY b, c",
            ],
            id="two_groups_in_one_select",
        ),
        pytest.param(
            "WITH x AS (SELECT {a}, count(*) FROM t GROUP BY {}) SELECT {b} FROM x GROUP BY {}",
            ["WITH x AS (SELECT a, count(*) FROM t GROUP BY a) SELECT b FROM x GROUP BY b"],
            id="each_select_its_own_group",
        ),
        pytest.param(
            "SELECT {a} FROM t GROUP BY {} UNION SELECT {b} FROM u GROUP BY {}",
            ["SELECT a FROM t GROUP BY a UNION SELECT b FROM u GROUP BY b"],
            id="union",
        ),
        pytest.param(
            "WITH x AS (SELECT {a} FROM t) SELECT count(*) FROM x GROUP BY {}",
            ["WITH x AS (SELECT a FROM t) SELECT count(*) FROM x GROUP BY a"],
            id="a_select_without_group_takes_the_first",
        ),
        pytest.param(
            "SELECT ';', E'\\';{', $$;}$$, \"a;b\", '{1,2}'::int[] -- ; {\nFROM t /* ; { */",
            ["SELECT ';', E'\\';{', $$;}$$, \"a;b\", '{1,2}'::int[] -- ; {\nFROM t /* ; { */"],
            id="what_stands_in_literals_and_comments_means_nothing",
        ),
    ],
)
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
