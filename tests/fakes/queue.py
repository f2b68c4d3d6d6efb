"""The queue of answers that all fakes use."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import TypeVar

_T = TypeVar("_T")


class Queue:
    """Answers in order; an exception among them is raised, an empty queue fails the test."""

    def __init__(self, owner: str, answers: Iterable[object]) -> None:
        self._owner = owner
        self._answers = deque(answers)

    def next(self, kind: type[_T], asked: object) -> _T:
        """The next answer, which must be of that kind."""
        assert self._answers, f"{self._owner} was asked once too often: {asked!r}"
        answer = self._answers.popleft()
        if isinstance(answer, Exception):
            raise answer
        assert isinstance(answer, kind), f"{self._owner} holds {answer!r}, not a {kind}"
        return answer
