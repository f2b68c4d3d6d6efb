"""Which requests a replica takes, and in which order it answers them."""

from __future__ import annotations

import asyncio

import pytest

from nl2sql.errors import Busy
from serve_app.service.admission import AdmissionController

NEVER_MIND = float("inf")
MANY = 1000
# Those who stay inside: a context that nobody holds ends.
STAYING: list[object] = []


class Asking:
    """Questions that are answered when ``go`` is set; ``order`` are those under way."""

    def __init__(self, admission: AdmissionController) -> None:
        self.admission = admission
        self.go = asyncio.Event()
        self.order: list[str] = []

    async def ask(self, name: str) -> None:
        """One question of the principal that is the name's first letter."""
        with self.admission.admit(name[0], patience_s=NEVER_MIND):
            async with self.admission.turns.hold(name[0]):
                self.order.append(name)
                await self.go.wait()

    async def start(self, *names: str) -> list[asyncio.Task[None]]:
        tasks = [asyncio.create_task(self.ask(name)) for name in names]
        await asyncio.sleep(0.01)
        return tasks


async def test_more_than_may_work_wait_in_order_and_more_than_may_wait_are_refused() -> None:
    asking = Asking(AdmissionController(2, 1))
    tasks = await asking.start("a1", "b1", "a2")
    assert asking.order == ["a1", "b1"]
    with pytest.raises(Busy, match="waiting already"):
        await asking.ask("a3")
    asking.go.set()
    await asyncio.gather(*tasks)
    assert asking.order == ["a1", "b1", "a2"]
    await asking.ask("a4")


async def test_one_principal_fills_neither_the_replica_nor_its_waiting_places() -> None:
    asking = Asking(AdmissionController(4, 4))
    tasks = await asking.start("a1", "a2", "a3", "a4", "a5", "a6")
    assert asking.order == ["a1", "a2", "a3"]
    with pytest.raises(Busy, match="waiting already"):
        await asking.ask("a7")
    tasks += await asking.start("b1", "b2")
    assert asking.order == ["a1", "a2", "a3", "b1"]
    asking.go.set()
    await asyncio.gather(*tasks)


async def test_one_who_would_not_be_answered_in_time_is_refused_at_once() -> None:
    admission = AdmissionController(1, 99)
    admission._load.measure(2.0, 1)
    with admission.admit("a", patience_s=1.0):
        # An idle replica always tries.
        with pytest.raises(Busy, match="about 4 seconds") as refused:
            admission.check("b", patience_s=3.0)
        assert refused.value.retry_after_s >= 1.0
        admission.check("b", patience_s=5.0)


# -- what a replica can bear -----------------------------------------------------------------------


def fill(admission: AdmissionController, who: str) -> int:
    """How many questions of ``who`` enter until one is refused; they stay."""
    for entered in range(MANY):
        entering = admission.admit(who, patience_s=NEVER_MIND)
        try:
            entering.__enter__()
        except Busy:
            return entered
        STAYING.append(entering)
    return MANY


def measured(idle_s: float, recent_s: float, present: int) -> AdmissionController:
    admission = AdmissionController(64, 256, max_slowdown=5.0)
    for _ in range(200):
        admission._load.measure(idle_s, 1)
    for _ in range(400):
        admission._load.measure(recent_s, present)
    return admission


def test_all_may_come_until_something_is_measured() -> None:
    assert fill(AdmissionController(64, 256, max_slowdown=5.0), "a") == MANY


@pytest.mark.parametrize(
    ("idle_s", "recent_s", "present", "entered"),
    [
        pytest.param(0.2, 2.0, 10, 5, id="one after the other"),
        pytest.param(1.0, 1.25, 20, 80, id="an engine that batches"),
        pytest.param(0.2, 40.0, 10, 4, id="a breakdown"),
    ],
)
def test_as_many_come_as_the_slowdown_allows(
    idle_s: float, recent_s: float, present: int, entered: int
) -> None:
    assert fill(measured(idle_s, recent_s, present), "a") == pytest.approx(entered, abs=1)


def test_a_second_principal_gets_its_share_of_a_full_replica() -> None:
    admission = measured(0.5, 5.0, 20)
    assert fill(admission, "a") == pytest.approx(10, abs=1)
    assert fill(admission, "b") == pytest.approx(5, abs=1)
    assert fill(admission, "a") == 0


def test_those_who_are_refused_come_back_as_answers_become_free() -> None:
    admission = measured(0.2, 2.0, 10)  # five answers a second
    fill(admission, "a")
    told = []
    for _ in range(200):
        with pytest.raises(Busy) as refused:
            admission.check("a", patience_s=100)
        told.append(refused.value.retry_after_s)
    assert 1.0 <= told[0] < 5.0
    assert told[50] - told[0] == pytest.approx(10, abs=1)
    # Not longer than the load is known for.
    assert told[-1] == pytest.approx(30, abs=1)
