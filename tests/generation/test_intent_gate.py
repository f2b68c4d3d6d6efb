"""The gate goes by the retrieval's own evidence."""

from __future__ import annotations

import pytest

from generation.intent_gate import check_intent
from nl2sql.types import RetrievedTable, SchemaContext
from tests.fakes import ORDER_LINES, SHOP, build_context


def build_hit(cosine: float | None, bm25_rank: int | None) -> SchemaContext:
    hit = RetrievedTable(ORDER_LINES, 0.1, cosine=cosine, bm25_rank=bm25_rank)
    return SchemaContext((hit,), (), ("order_lines",))


@pytest.mark.parametrize(
    ("cosine", "bm25_rank", "passes"),
    [
        (0.5, 1, True),
        (0.5, None, True),
        (0.2, None, True),
        (0.19, None, False),
        (-0.5, 3, True),
        (None, None, False),
        (None, 1, True),
    ],
    ids=["both", "near", "just_near", "too_far", "shared_word", "no_evidence", "word_alone"],
)
def test_a_question_needs_a_word_or_a_near_table(
    cosine: float | None, bm25_rank: int | None, passes: bool
) -> None:
    assert (check_intent(build_hit(cosine, bm25_rank), 0.2) == "") is passes


def test_the_refusal_names_what_can_be_asked_in_words() -> None:
    assert check_intent(build_hit(0.0, None), 0.2).endswith("It knows, for example: order lines.")


def test_the_refusal_names_five_tables_at_most() -> None:
    context = build_context()
    far = SchemaContext(
        tuple(RetrievedTable(hit.table, 0.1) for hit in context.tables), (), context.names
    )
    assert len(SHOP.tables) == 6
    assert check_intent(far, 0.2).count(",") == 1 + 4


def test_a_database_without_tables_is_refused() -> None:
    assert "no table" in check_intent(SchemaContext((), (), ()), -1.0)
