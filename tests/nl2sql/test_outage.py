"""Waiting for what stopped answering, and the bounds of it."""

from __future__ import annotations

import pytest

from nl2sql.errors import EngineUnavailable
from nl2sql.outage import Outage


class DyingSystem:
    """Raises the queued errors before it answers, and says the queued problems when probed.

    Without any problem left it is ready.
    """

    def __init__(self, errors: list[Exception | None], problems: list[str]) -> None:
        self.errors, self.problems = errors, problems
        self.asked = 0
        self.said: list[str] = []

    async def ask(self) -> int:
        self.asked += 1
        if self.errors and (error := self.errors.pop(0)):
            raise error
        return self.asked

    async def probe(self) -> str:
        return self.problems.pop(0) if self.problems else ""

    def outage(self, longest_s: float = 60.0) -> Outage:
        return Outage(self.probe, self.said.append, longest_s=longest_s, pause_s=0.001)

    async def fail_after_an_answer(
        self, error: type[Exception], longest_s: float = 60.0
    ) -> tuple[int, int]:
        """How often it was asked, and how many lines were said, until ``error`` was raised."""
        outage = self.outage(longest_s)
        await outage.ask(self.ask)
        with pytest.raises(error):
            await outage.ask(self.ask)
        return self.asked, len(self.said)


def dead() -> EngineUnavailable:
    return EngineUnavailable("The engine has died.")


async def test_it_waits_until_ready_and_asks_again() -> None:
    system = DyingSystem([None, dead()], ["dead", "dead", "loading"])
    outage = system.outage()
    assert [await outage.ask(system.ask) for _ in range(3)] == [1, 3, 4]
    assert [line.split(".")[0] for line in system.said] == [
        "The engine has died",
        "It is ready again after 0 s; the run goes on",
    ]


async def test_what_never_answered_is_not_waited_for() -> None:
    system = DyingSystem([dead()], ["dead"] * 99)
    with pytest.raises(EngineUnavailable):
        await system.outage().ask(system.ask)
    assert (system.asked, system.said) == (1, [])


async def test_a_system_that_does_not_recover_ends_it() -> None:
    system = DyingSystem([None, dead()], ["dead"] * 9999)
    assert await system.fail_after_an_answer(EngineUnavailable, longest_s=0.05) == (2, 1)


async def test_a_call_that_fails_three_times_although_all_is_ready_is_not_repeated() -> None:
    system = DyingSystem([None, *(dead() for _ in range(9))], [])
    assert await system.fail_after_an_answer(EngineUnavailable) == (4, 0)
