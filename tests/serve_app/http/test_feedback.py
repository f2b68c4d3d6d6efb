"""``POST /feedback`` over a taker that answers what is queued."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from nl2sql.types import Principal
from retrieval.examples.feedback import FeedbackReceipt
from retrieval.index_store.feedback_store import Feedback
from tests.fakes import Queue, build_settings
from tests.serve_app.served import build_app, connect

BODY = {"question": "How many orders?", "sql": "SELECT 1", "verdict": "right"}
ANN = {"roles": ["clerk"], "attributes": {"country": "DE"}, "token_env": "ANN_TOKEN"}


class FakeTaker:
    """Gives the queued receipts."""

    def __init__(self, *answers: FeedbackReceipt | Exception) -> None:
        self._queue = Queue("FakeTaker", answers)
        self.taken: list[Feedback] = []

    async def take_feedback(self, feedback: Feedback) -> FeedbackReceipt:
        self.taken.append(feedback)
        return self._queue.next(FeedbackReceipt, feedback)


async def send(body: Any, taker: FakeTaker, *, token: str = "", **settings: Any) -> httpx.Response:
    headers = {"authorization": f"Bearer {token}"} if token else {}
    async with connect(build_app(build_settings(**settings), taker=taker)) as client:
        return await client.post("/feedback", json=body, headers=headers)


@pytest.mark.parametrize(
    ("outcome", "status"), [("stored", 200), ("known", 200), ("removed", 200), ("recorded", 202)]
)
async def test_the_status_tells_whether_anything_came_of_it(outcome: Any, status: int) -> None:
    response = await send(BODY, FakeTaker(FeedbackReceipt(outcome, "abc")))
    assert response.status_code == status
    body = response.json()
    assert (body["outcome"], body["example"], len(body["id"])) == (outcome, "abc", 32)


async def test_what_is_sent_arrives_with_its_principal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANN_TOKEN", "s3cret")
    identity = {"principals": {"ann": ANN}}
    body = {**BODY, "question": " How? ", "verdict": "wrong", "correction": " SELECT 2 "}
    taker = FakeTaker(FeedbackReceipt("stored", "abc"))
    refused = await send(body, taker, identity=identity)
    assert (refused.status_code, taker.taken) == (401, [])
    assert (await send(body, taker, token="s3cret", identity=identity)).status_code == 200
    ann = Principal("ann", ("clerk",), (("country", "DE"),))
    assert taker.taken == [Feedback("shop", "How?", "SELECT 1", False, ann, "SELECT 2")]


@pytest.mark.parametrize(
    ("body", "field"),
    [(BODY, "sql"), ({**BODY, "verdict": "wrong", "correction": "SELECT 2"}, "correction")],
)
async def test_a_query_that_may_not_run_is_the_callers_mistake(
    body: dict[str, Any], field: str
) -> None:
    taker = FakeTaker(FeedbackReceipt("refused", reason="There is no table x."))
    problem = (await send(body, taker)).json()
    assert problem["status"] == 422
    assert problem["errors"][0]["field"] == field
    assert "There is no table x." in problem["detail"]
