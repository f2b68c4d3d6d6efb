"""The benchmark asks the questions that it claims to; times are not tested."""

from __future__ import annotations

from data.benchmarks.types import Example
from nl2sql.sql.normal_form import normal_form
from tests.benchmarks.ingress import K, Round, render, write_texts
from tests.benchmarks.stack_sampler import Profile
from tests.fakes import SHOP, build_context

GOLD = (
    "SELECT c.country, COUNT(*) AS n FROM orders AS o JOIN customers AS c"
    " ON o.customer_id = c.customer_id GROUP BY c.country ORDER BY n DESC"
)
EXAMPLES = [Example(f"e{at}", "shop", f"Question {at}?", (GOLD,)) for at in range(3)]


def test_texts_are_distinct_the_same_each_time_and_so_many_of_them_right() -> None:
    texts = write_texts(EXAMPLES, build_context(SHOP))
    assert texts == write_texts(EXAMPLES, build_context(SHOP))
    for said in texts.values():
        assert len({normal_form(text, "postgres") for text in said}) == K
    right = [sum(GOLD in text for text in texts[example.question]) for example in EXAMPLES]
    assert right == [3, 1, 0]


def test_the_table_tells_cold_from_warm_and_the_kinds_of_questions_apart() -> None:
    cold = Round([{"assess": 30.0, "other": 2.0, "right": right} for right in (3, 1, 0)])
    warm = Round([{"assess": 10.0 * (right + 1), "right": right} for right in (3, 1, 0)])
    lines = render(cold, warm).splitlines()
    assert lines[0] == "| | p50 | p95 | mean | assess | other |"
    assert lines[2] == "| cold | 32.0 | 32.0 | 32.0 | 30.0 | 2.0 |"
    assert lines[4] == "| warm, 3 right | 40.0 | 40.0 | 40.0 | 40.0 | 0.0 |"


def test_a_profile_counts_functions_once_a_stack_and_no_waiting() -> None:
    profile = Profile()
    profile.add("main (a.py:1);walk (a.py:5);walk (a.py:6) 3")
    profile.add("main (a.py:1);Condition.wait (threading.py:7) 9")
    assert (profile.samples, profile.own["walk (a.py)"], profile.within["walk (a.py)"]) == (3, 3, 3)
    assert "| 10.00 | 100.0% | walk (a.py) |" in profile.render(5, 10.0)
