"""The service under test, and one case: a fault under load, and the way back."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from tests.chaos.load import GRACE_S, Client, Load, Reply
from tests.chaos.questions import KnownQuestion
from tests.chaos.servers import Server

# The time limit of a request.
TIMEOUT_S = 15.0
# A bound against hanging, not a measure: the table in docs/measurements.md has those.
MOST_RECOVERY_S = 150.0
# Right answers in a row that count as being ready again.
_IN_A_ROW = 3
_AFTER = 10
# Readiness is up to a second old.
_STALE_S = 1.5

_FATAL = ("wrong", "dishonest", "hung")


@dataclass(frozen=True, slots=True)
class Case:
    """What a fault came to: replies by kind, and seconds from its end to the way back."""

    name: str
    counts: Counter[str]
    slowest_s: float
    recovery_s: float
    reasons: Counter[str]


@dataclass(kw_only=True)
class Service:
    """The service, its databases, and the cases so far."""

    questions: Sequence[KnownQuestion]
    cases: list[Case]
    url: str
    data: Server
    index: Server

    @contextmanager
    def client(self) -> Iterator[Client]:
        """A client of its own."""
        client = Client(self.url, TIMEOUT_S)
        yield client
        client.close()

    def break_under_load(
        self,
        name: str,
        fault: AbstractContextManager[None],
        *,
        hold_s: float = 0.0,
        may_lose: bool = False,
    ) -> Case:
        """Causes the fault under a steady load for ``hold_s``, and waits until all is well again.

        Raises AssertionError for a wrong row, an error that is none of ours, a request that hangs,
        a lost connection unless connections ``may`` be lost, or a service that does not come
        back.
        """
        with Load(self.url, self.questions, TIMEOUT_S) as load:
            load.wait_for_right(20, MOST_RECOVERY_S)
            before = len(load.replies)
            start = time.monotonic()
            with fault:
                time.sleep(max(hold_s, _STALE_S))
            # A fault that lasts until it is seen, such as a death, ends when it begins.
            lifted = start + hold_s
            recovered = self._wait_until_well()
        replies = load.replies[before:]
        case = Case(
            name,
            Counter(reply.kind for reply in replies),
            max(reply.seconds for reply in replies),
            recovered - lifted,
            Counter(reply.detail[:160] for reply in replies if reply.kind != "right"),
        )
        self.cases.append(case)
        print(f"\n{render(case)}", *case.reasons.most_common(8), sep="\n    ")
        check(replies, may_lose=may_lose)
        self.answer_after(_AFTER)
        return case

    def answer_after(self, count: int) -> None:
        """Asks so many questions, one after another. Raises AssertionError for one not right."""
        with self.client() as client:
            for question in self.questions[:count]:
                reply = client.ask(question)
                assert reply.kind == "right", reply

    def _wait_until_well(self) -> float:
        """When readiness and right answers began to follow one another (monotonic)."""
        give_up = time.monotonic() + MOST_RECOVERY_S
        since, right = 0.0, 0
        with self.client() as client:
            while right < _IN_A_ROW:
                assert time.monotonic() < give_up, "the service does not come back"
                if client.is_ready() and client.ask(self.questions[0]).kind == "right":
                    since, right = (since if right else time.monotonic()), right + 1
                else:
                    right = 0
                time.sleep(0.2)
        return since


def check(replies: Sequence[Reply], *, may_lose: bool) -> None:
    """Raises AssertionError for replies that must not be."""
    bad = [
        reply
        for reply in replies
        if reply.kind in _FATAL or (reply.kind == "lost" and not may_lose)
    ]
    assert not bad, bad[:3]
    assert max(reply.seconds for reply in replies) < TIMEOUT_S + GRACE_S


def render(case: Case) -> str:
    """A row of the table of cases."""
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(case.counts.items()))
    return f"| {case.name} | {kinds} | {case.slowest_s:.1f} | {case.recovery_s:.1f} |"
