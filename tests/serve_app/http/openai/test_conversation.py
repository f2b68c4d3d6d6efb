"""The queries in the earlier messages of a chat, which come from the client."""

from __future__ import annotations

import random
import re

import pytest

from serve_app.http.openai.conversation import find_queries

LINES = ("```sql", "```", "````sql", "````", "```text", "SELECT 1", "")
# What the same is as a regular expression, which takes too long for hostile texts.
FENCE = re.compile(r"^(`{3,})sql\n(.*?)\n\1$", re.DOTALL | re.MULTILINE)


def test_the_queries_are_those_of_the_whole_fences() -> None:
    chance = random.Random(1)
    for _ in range(5000):
        answer = "\n".join(chance.choices(LINES, k=chance.randrange(1, 12)))
        assert find_queries(answer) == tuple(match[2] for match in FENCE.finditer(answer)), answer


@pytest.mark.timeout(60)
def test_fences_that_do_not_end_do_not_keep_the_service_busy() -> None:
    assert find_queries("```sql\n" * 150_000) == ()
    assert len(find_queries("```sql\nSELECT 1\n```\n" * 50_000)) == 50_000
