"""The number of samples that a request may ask for."""

from __future__ import annotations

import pytest

from nl2sql.errors import InvalidRequest
from nl2sql.types import Principal
from quorumsql.contract import QueryRequest
from serve_app.service.query_service import build_question
from tests.fakes import build_settings


def choose_k(asked: int | None, **sampling: int) -> int:
    settings = build_settings(sampling=sampling)
    return build_question(QueryRequest(question="q", k=asked), settings, Principal("ann")).k


def test_a_request_may_leave_the_number_to_the_service_or_to_the_question() -> None:
    assert choose_k(None, k=4) == 4
    assert choose_k(None, k=0) == 0
    assert choose_k(0, k=4) == 0
    assert choose_k(7, k=0) == 7


@pytest.mark.parametrize("asked", [-1, 33])
def test_a_wrong_number_is_told_what_is_right(asked: int) -> None:
    with pytest.raises(InvalidRequest, match="from 1 to 32, or 0 for as many as the question") as e:
        choose_k(asked)
    assert e.value.field == "k"
