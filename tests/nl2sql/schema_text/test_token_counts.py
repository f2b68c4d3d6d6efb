"""Counts are asked once, all together, and forgotten when they are too many."""

from __future__ import annotations

from nl2sql.schema_text import TokenCounts
from tests.fakes import FakeEngine


async def test_all_unknown_texts_are_asked_in_one_call_and_never_again() -> None:
    engine = FakeEngine()
    counts = TokenCounts(engine)
    assert await counts.count(["abcd", "abcde", "abcd"]) == {"abcd": 1, "abcde": 2}
    assert await counts.count(["abcde", "x"]) == {"abcde": 2, "x": 1}
    assert await counts.count(["x", "abcd"]) == {"x": 1, "abcd": 1}
    assert engine.counted == [("abcd", "abcde"), ("x",)]


async def test_what_was_used_last_is_remembered() -> None:
    engine = FakeEngine()
    counts = TokenCounts(engine, most_remembered=2)
    await counts.count(["a", "b"])
    await counts.count(["a", "c"])
    await counts.count(["a", "c"])
    await counts.count(["b"])
    assert engine.counted == [("a", "b"), ("c",), ("b",)]
