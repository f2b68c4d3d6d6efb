from __future__ import annotations

from nl2sql.cache_counts import count_lookups, read_lookups


def test_lookups_are_counted_by_cache_and_result() -> None:
    count_lookups("test_a", hits=2, misses=1)
    count_lookups("test_a", hits=1)
    count_lookups("test_b", misses=1)
    found = read_lookups()
    assert (found["test_a", "hit"], found["test_a", "miss"]) == (3, 1)
    assert (found["test_b", "hit"], found["test_b", "miss"]) == (0, 1)
