"""A steady load of questions with known answers, and a judgement of every response."""

from __future__ import annotations

import itertools
import random
import threading
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self

import httpx

from tests.chaos.questions import MOST_ROWS, KnownQuestion
from tests.serve_app.interfaces import build_token, spell_cell

CLIENTS = 8
# Longer than a request may take, so that one that hangs is told from one that is late.
GRACE_S = 5.0

# ``declined``: no rows, with a reason, as an answer. ``error``: a problem document that says why
# and, where it is worth it, when to try again. ``lost``: the connection broke. The rest are faults.
Kind = Literal["right", "declined", "error", "lost", "wrong", "dishonest", "hung"]

_HONEST = {400, 401, 404, 422, 429, 503, 504}
_WITH_RETRY = {429, 503}


@dataclass(frozen=True, slots=True)
class Reply:
    """One response: ``at`` is when it was asked for (monotonic), ``seconds`` how long it took."""

    kind: Kind
    at: float
    seconds: float
    detail: str = ""


class Client:
    """Asks the service at ``url`` and judges what it replies."""

    def __init__(self, url: str, timeout_s: float) -> None:
        self._url = url
        self._timeout_s = timeout_s
        self._seeds = itertools.count()
        self._http = httpx.Client(timeout=timeout_s + GRACE_S)

    def ask(self, question: KnownQuestion) -> Reply:
        """The judgement of one response. No two questions are the same, so none is shared."""
        start = time.monotonic()
        kind, detail = self._ask(question)
        return Reply(kind, start, time.monotonic() - start, detail)

    def _ask(self, question: KnownQuestion) -> tuple[Kind, str]:
        number = next(self._seeds)
        body = {"question": question.sql, "k": 1, "max_rows": MOST_ROWS, "seed": number}
        if number % 4 == 0:
            # It is remembered, which writes to the index.
            body["session"] = uuid.uuid4().hex
        headers = {"Authorization": f"Bearer {build_token(question.principal)}"}
        try:
            response = self._http.post(f"{self._url}/query", json=body, headers=headers)
        except httpx.TimeoutException as error:
            return "hung", repr(error)
        except httpx.TransportError as error:
            return "lost", repr(error)
        return judge(response, question)

    def is_ready(self) -> bool:
        """Whether the service says that it is."""
        try:
            return self._http.get(f"{self._url}/readyz").status_code == 200
        except httpx.HTTPError:
            return False

    def close(self) -> None:
        self._http.close()


def judge(response: httpx.Response, question: KnownQuestion) -> tuple[Kind, str]:
    """What a response is, and why."""
    said = f"{response.status_code} {response.text[:300]}"
    if response.status_code != 200:
        return ("error", said) if is_honest(response) else ("dishonest", said)
    document = response.json()
    if document["outcome"] != "answered":
        return "declined", f"{document['outcome']}: {document.get('reason', '')}"
    rows = Counter(tuple(map(spell_cell, row)) for row in document["rows"])
    return ("right", "") if rows == question.rows else ("wrong", f"{question} {said}")


def is_honest(response: httpx.Response) -> bool:
    """Whether an error is a problem document with a reason and, where due, a time to try again."""
    if response.headers.get("content-type") != "application/problem+json":
        return False
    if response.status_code not in _HONEST or not response.json().get("detail"):
        return False
    return response.status_code not in _WITH_RETRY or "retry-after" in response.headers


class Load:
    """Clients that ask without a pause while the block runs; at its end all have their reply."""

    def __init__(
        self,
        url: str,
        questions: Sequence[KnownQuestion],
        timeout_s: float,
    ) -> None:
        self.replies: list[Reply] = []
        self._url = url
        self._questions = questions
        self._timeout_s = timeout_s
        self._ending = threading.Event()
        self._threads = [
            threading.Thread(target=self._ask, args=[number]) for number in range(CLIENTS)
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ending.set()
        for thread in self._threads:
            thread.join()

    def wait_for_right(self, count: int, seconds: float) -> None:
        """Waits for so many right answers. Raises AssertionError after that time."""
        start = time.monotonic()
        while sum(reply.kind == "right" for reply in self.replies) < count:
            assert time.monotonic() - start < seconds, self.count()
            time.sleep(0.1)

    def count(self) -> Counter[str]:
        """Responses by kind."""
        return Counter(reply.kind for reply in self.replies)

    def _ask(self, number: int) -> None:
        client, rng = Client(self._url, self._timeout_s), random.Random(number)
        while not self._ending.is_set():
            reply = client.ask(rng.choice(self._questions))
            self.replies.append(reply)
            self._ending.wait(0.05 if reply.kind == "right" else 0.3)
        client.close()


def pick_answered(
    url: str, questions: Sequence[KnownQuestion], timeout_s: float
) -> list[KnownQuestion]:
    """Those that get the rows of the copy; one whose rows depend on their order may not.

    Raises AssertionError where they are not even half of all.
    """
    client = Client(url, timeout_s)
    # The first question of all waits until everything is loaded.
    client.ask(questions[0])
    replies = [(question, client.ask(question)) for question in questions]
    client.close()
    for question, reply in replies:
        if reply.kind != "right":
            print(question.principal, question.sql[:60], reply.kind, reply.detail[:300])
    answered = [question for question, reply in replies if reply.kind == "right"]
    assert len(answered) > len(questions) / 2, (len(answered), len(questions))
    return answered
