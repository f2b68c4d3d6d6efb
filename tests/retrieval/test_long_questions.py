"""No question makes the event loop, or the thread that it reads in, wait long."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from retrieval.examples.question_items import read_text
from retrieval.examples.records import mask_question
from retrieval.linking.words import read_question
from retrieval.search.catalog_questions import read_request
from retrieval.search.keywords import read_words
from retrieval.values.phrases import find_phrases
from retrieval.vocabulary.terms import find_business_terms

READERS = [mask_question, read_text, find_phrases, read_question, read_words, find_business_terms]
PARTS = "Xy?|a. |'a|“a|1,1|3 of may |headcount |a's |請|aB_|e\u0301".split("|")


@pytest.mark.timeout(60)
@pytest.mark.parametrize("read", [*READERS, read_request])
def test_a_long_question_is_read_in_the_time_of_its_length(read: Callable[[str], object]) -> None:
    texts = [(part * 4000)[:4000] for part in PARTS]
    for text in (*texts, "x" + "?" * 4000 + " z" * 2000):
        read(text)
