"""The packaged list of business terms."""

from __future__ import annotations

from collections import Counter
from importlib.resources import files

import pytest
import yaml

from retrieval.vocabulary.terms import find_business_terms


def find_kinds(text: str) -> set[str]:
    return {" ".join(kind) for term in find_business_terms(text) for kind in term.tables}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("What was the turnover last year?", "order line"),
        ("Gross margins by product", "product cost"),
        ("How is our headcount?", "employee"),
        ("Days sales outstanding", "invoice"),
    ],
)
def test_phrases_are_found_whatever_their_number_and_case(text: str, kind: str) -> None:
    assert kind in find_kinds(text)


def test_a_phrase_inside_a_longer_one_does_not_count() -> None:
    assert "sales target" not in find_kinds("What are our sales?")
    assert find_business_terms("staff turnover") == find_business_terms("attrition")


def test_the_list_repeats_nothing_within_a_term() -> None:
    text = files("retrieval.vocabulary").joinpath("business.yaml").read_text(encoding="utf-8")
    for entry in yaml.safe_load(text):
        for names in (entry["say"], entry["tables"]):
            assert names
            assert max(Counter(names).values()) == 1, entry
