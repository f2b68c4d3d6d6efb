"""What runs means what the original text means; see ``meaning.py``.

``python -m tests.oracle meaning`` compares tens of thousands of statements on each database.
"""

from __future__ import annotations

import random
from itertools import islice

import pytest
from sqlglot import parse_one
from sqlglot.errors import SqlglotError

from execution.postgres.embedded import EmbeddedServer
from nl2sql.types import GuardedQuery, Violation
from tests.attacks.attack import ENGINES
from tests.oracle.meaning import Grammar, Kind, MeaningTally, judge_meaning, open_table


@pytest.mark.parametrize("dialect", ENGINES)
@pytest.mark.parametrize(
    "statements", [pytest.param(300, marks=pytest.mark.quick), pytest.param(5000)]
)
def test_the_rewritten_text_means_the_same(
    dialect: str, statements: int, embedded_server: EmbeddedServer
) -> None:
    tally = judge_meaning(dialect, random.Random(7), statements=statements, server=embedded_server)
    assert not tally.differences, tally.render()
    assert tally.total == statements
    assert tally.count(Kind.SAME) >= statements / 4, tally.render()


@pytest.mark.quick
@pytest.mark.parametrize(
    ("sql", "written"),
    [
        ("SELECT v <=> v FROM things", "SELECT v IS NOT DISTINCT FROM v FROM things"),
        ("SELECT 1_000", "SELECT 1 AS _000"),
        ("SELECT s !~ 'a' || s FROM things", "SELECT NOT s ~ ('a' || s) FROM things"),
        ("SELECT i FROM things ORDER BY i DESC", "SELECT i FROM things ORDER BY i"),
        ("SELECT (1 + 2) * 3", "SELECT 1 + 2 * 3"),
        ("SELECT date '2024-01-31'::text", "SELECT date '2024-01-31'"),
    ],
)
def test_a_difference_is_seen(sql: str, written: str, embedded_server: EmbeddedServer) -> None:
    grammar = Grammar("postgres")
    with open_table("postgres", grammar, embedded_server) as run:
        for text, kind in ((sql, Kind.SAME), (written, Kind.DIFFERENT)):
            assert MeaningTally().judge(sql, GuardedQuery("meaning", text, ()), run) is kind


def test_what_sqlglot_misreads_is_found(embedded_server: EmbeddedServer) -> None:
    """Without the guard's own reading of the dialect, texts are written with another meaning."""
    grammar, tally, rng = Grammar("postgres"), MeaningTally(), random.Random(1)
    with open_table("postgres", grammar, embedded_server) as run:
        for sql in islice(grammar.iterate(rng), 500):
            tally.judge(sql, write_by_sqlglot(sql), run)
    assert any("<=>" in text for text in tally.differences), tally.render()


def write_by_sqlglot(sql: str) -> GuardedQuery | Violation:
    try:
        return GuardedQuery("meaning", parse_one(sql, "postgres").sql("postgres"), ())
    except (SqlglotError, AttributeError, TypeError) as error:
        return Violation("unparsable", "", str(error))
