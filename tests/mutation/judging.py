"""Runs the tests that can notice a mutant, until one does.

A plugin that takes the place of pytest's loop: the tests are collected once, then each mutant is
put into a fork of this process (``patching.py``). What cannot be exchanged in place, and survivors
of which something may have been kept from before, run in a process of their own (``fresh.py``).
"""

from __future__ import annotations

import gc
import resource
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import pytest

from tests.mutation.children import OutOfTime, run_in_fork
from tests.mutation.coverage import list_judges
from tests.mutation.fresh import judge_afresh
from tests.mutation.mutant import ROOT, Mutant
from tests.mutation.patching import CannotPatch, patch_modules, prepare
from tests.mutation.tracing import Traced, Tracer

# Of the tests that execute a line so many are run, those that noticed something in the same file
# first: of a line that each of thousands executes, a survivor costs half a minute otherwise.
MOST_TESTS = 400
# Beside a multiple of what the tests took without a mutant.
_LEAST_SECONDS = 60.0
_TIMES = 6.0


@dataclass(frozen=True, slots=True)
class Judgement:
    """``verdict`` is killed, hangs or survived; ``by`` the test that noticed; ``ran`` how many.

    ``cpu_s`` are the seconds that it kept a core.
    """

    verdict: str
    by: str = ""
    ran: int = 0
    cpu_s: float = 0.0


class Judge:
    """Judges mutants by the tests of the running session."""

    def __init__(
        self, items: Sequence[pytest.Item], tests: Mapping[str, Traced], *, most: int = MOST_TESTS
    ) -> None:
        self._items = {item.nodeid: item for item in items}
        self._tests = {name: test for name, test in tests.items() if name in self._items}
        self._most = most
        self._kills: Counter[tuple[str, str]] = Counter()

    def judge(self, mutant: Mutant) -> Judgement:
        """Judges one mutant."""
        before = _read_cpu()
        judgement = self._judge(mutant)
        return replace(judgement, cpu_s=round(_read_cpu() - before, 2))

    def _judge(self, mutant: Mutant) -> Judgement:
        names = list_judges(mutant, self._tests)
        if not names:
            return Judgement("survived")
        names = self._choose(mutant.path, names)
        limit = _LEAST_SECONDS + _TIMES * sum(self._tests[name].seconds for name in names)
        source = (ROOT / mutant.path).read_bytes()
        try:
            found = run_in_fork(lambda: self._run(mutant, source, names), limit)
            if found.get("again"):
                found = judge_afresh(mutant, names, limit)
        except OutOfTime:
            return Judgement("hangs")
        if "error" in found:
            raise RuntimeError(f"{mutant.key}: {found['error']}")
        if by := found["by"]:
            self._kills[mutant.path, by] += 1
        return Judgement("killed" if by else "survived", by, found["ran"])

    def _choose(self, path: str, names: list[str]) -> list[str]:
        """At most ``most``: half those that noticed most mutants, half drawn at even steps."""
        names.sort(key=lambda name: -self._kills[path, name])
        if len(names) <= self._most:
            return names
        half = self._most // 2
        rest = names[half:]
        return names[:half] + rest[:: -(-len(rest) // half)]

    def _run(self, mutant: Mutant, source: bytes, names: list[str]) -> dict[str, Any]:
        try:
            is_exact = patch_modules(mutant, source)
        except CannotPatch:
            return {"again": True}
        except Exception as error:  # what the mutant makes of a constant may not even be built
            return {"by": f"import: {type(error).__name__}", "ran": 0}
        found = run_until_noticed([self._items[name] for name in names])
        return found if found["by"] or is_exact else {"again": True}


def _read_cpu() -> float:
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


class _Reports:
    def __init__(self) -> None:
        self.by = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.by:
            self.by = report.nodeid


def run_until_noticed(items: Sequence[pytest.Item]) -> dict[str, Any]:
    """Runs the items in their order; ``by`` is the first that fails."""
    if not items:
        return {"by": "", "ran": 0}
    reports = _Reports()
    items[0].config.pluginmanager.register(reports)
    for at, item in enumerate(items):
        # The last is its own next, so that nothing that outlives it is torn down.
        following = items[min(at + 1, len(items) - 1)]
        item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
        if reports.by:
            return {"by": reports.by, "ran": at + 1}
    return {"by": "", "ran": len(items)}


class Session:
    """The plugin: ``work`` is done with the collected tests in the place of running them."""

    def __init__(self, work: Callable[[Sequence[pytest.Item]], None]) -> None:
        self._work = work

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Nothing is left for pytest to run."""
        prepare()
        gc.collect()
        gc.freeze()
        self._work(session.items)
        return True


def trace_tests(items: Sequence[pytest.Item], targets: Sequence[str]) -> dict[str, Traced]:
    """What each test executes without a mutant, found in a fork."""

    def work() -> dict[str, Any]:
        tracer = Tracer(targets)
        items[0].config.pluginmanager.register(tracer)
        for at, item in enumerate(items):
            following = items[at + 1] if at + 1 < len(items) else item
            item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
        return {name: asdict(test) for name, test in tracer.tests.items()}

    traced = run_in_fork(work, limit_s=3600.0)
    return {name: Traced(**test) for name, test in traced.items()}
