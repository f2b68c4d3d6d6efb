"""``python -m tests.mutation``: draws mutants at random and judges them.

    python -m tests.mutation --mutants 1000 --seed 1      of all files
    python -m tests.mutation --module growth cost_bombs   all mutants of files named so
    python -m tests.mutation --mutants 1000 --module x    those of the thousand that are there
    python -m tests.mutation --repairs                    each known repair undone
    python -m tests.mutation --mutants 1000 --servers     then what survives by the tests with one

Results are in runs/mutation: an interrupted run continues where it was, and what survived once is
judged again, so that tests can be added meanwhile. ``--trace`` finds out again which test executes
which line; do that after tests or the code were changed.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import pytest

from tests.mutation.allowlist_mutants import list_allowlist_mutants
from tests.mutation.fresh import PYTEST_OPTIONS
from tests.mutation.judging import MOST_TESTS, Judge, Session, trace_tests
from tests.mutation.mutant import ROOT, Mutant, digest_file
from tests.mutation.python_mutants import list_python_mutants
from tests.mutation.results import (
    Result,
    append_result,
    load_results,
    render_survivors,
    render_table,
)
from tests.mutation.targets import LEFT_OUT, SERVER_FIXTURES, TESTS, list_targets
from tests.mutation.tracing import Traced, load_trace, save_trace
from tests.mutation.undone_repairs import load_repairs, undo_repair

_FOLDER = ROOT / "runs" / "mutation"
_RESULTS = _FOLDER / "results.jsonl"
# Tests that take longer are run for what survives the others: those of databases wait for limits
# of time. That of ordinary queries is long because there are hundreds of them.
_LONGEST_SECONDS = 0.8
_LONG = "test_ordinary_queries.py"


def main(arguments: Sequence[str] | None = None) -> int:
    """Judges the mutants of the arguments; gives 1 when one survived."""
    options = _build_parser().parse_args(arguments)
    mutants = [*map(undo_repair, load_repairs())] if options.repairs else _draw(options)
    print(f"{len(mutants)} mutants", file=sys.stderr)
    for phase in ("fast", "server") if options.servers else ("fast",):
        _run_phase(phase, mutants, options)
    known = load_results(_RESULTS)
    results = [
        found
        for mutant in mutants
        if (found := known.get((mutant.key, digest_file(mutant.path)))) is not None
    ]
    print(render_table(results))
    print(render_survivors(results))
    return int(any(result.verdict == "survived" for result in results))


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--mutants", type=int, help="how many; all when not given")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--module", nargs="*", default=[], help="only files that are named so")
    parser.add_argument("--repairs", action="store_true", help="undo known repairs")
    parser.add_argument("--survivors", action="store_true", help="only what survived before")
    parser.add_argument("--servers", action="store_true", help="then also tests with a server")
    parser.add_argument("--trace", action="store_true", help="look anew what tests execute")
    parser.add_argument("--most-tests", type=int, default=MOST_TESTS, help="for each mutant")
    parser.add_argument("--minutes", type=float, default=600.0, help="begin none after so many")
    return parser


def list_mutants(path: str) -> tuple[Mutant, ...]:
    """All mutants of one target."""
    source = (ROOT / path).read_bytes()
    find = list_allowlist_mutants if path.endswith(".yaml") else list_python_mutants
    return find(path, source)


def _draw(options: argparse.Namespace) -> list[Mutant]:
    """The mutants of the smallest hashes: the draw of a file does not depend on other files."""
    every = [mutant for path in list_targets() for mutant in list_mutants(path)]
    every.sort(key=lambda mutant: sha256(f"{options.seed}:{mutant.key}".encode()).digest())
    wanted = set(options.module)
    return [
        mutant
        for mutant in every[: options.mutants]
        if not wanted or {mutant.path, Path(mutant.path).stem} & wanted
    ]


def _run_phase(phase: str, mutants: Sequence[Mutant], options: argparse.Namespace) -> None:
    known = load_results(_RESULTS)
    new, survivors = [], []
    for mutant in mutants:
        found = known.get((mutant.key, digest_file(mutant.path)))
        if found is None:
            new.append(mutant)
        elif found.verdict == "survived":
            survivors.append(mutant)
    pending = survivors if options.survivors else [*new, *survivors]
    if not pending:
        return

    def work(items: Sequence[pytest.Item]) -> None:
        tests = _trace(items, phase, anew=options.trace)
        is_slow = phase == "server"
        chosen = {
            name: test for name, test in tests.items() if is_slow or test.seconds < _LONGEST_SECONDS
        }
        # Of a known repair all of its tests are asked: there are few, and each must be noticed.
        most = len(chosen) if options.repairs else options.most_tests
        judge = Judge(items, chosen, most=most)
        end = time.monotonic() + options.minutes * 60
        for at, mutant in enumerate(pending, start=1):
            if time.monotonic() > end:
                return
            result = _judge(judge, mutant, phase)
            append_result(result, _RESULTS)
            print(
                f"{at}/{len(pending)} {result.verdict} {result.cpu_s} {mutant.key}", file=sys.stderr
            )

    basetemp = tempfile.mkdtemp(prefix="mutants-", dir=_find_memory())
    ignored = [f"--ignore={path}" for path in LEFT_OUT]
    pytest.main(
        [*TESTS[phase], *ignored, *PYTEST_OPTIONS, "-s", f"--basetemp={basetemp}/t"],
        plugins=[_Choice(needs_server=phase == "server"), Session(work)],
    )
    shutil.rmtree(basetemp, ignore_errors=True)


def _trace(items: Sequence[pytest.Item], phase: str, *, anew: bool) -> dict[str, Traced]:
    """What each test executes, known from before or traced now for tests that are new."""
    file = _FOLDER / f"trace-{phase}.json"
    known = {} if anew or not file.exists() else load_trace(file)
    digests = {path: digest_file(path) for path in {item.nodeid.split("::")[0] for item in items}}
    fresh = [
        item
        for item in items
        if (test := known.get(item.nodeid)) is None
        or test.digest != digests[item.nodeid.split("::")[0]]
    ]
    if fresh:
        print(f"{len(fresh)} tests to trace", file=sys.stderr)
        for name, test in trace_tests(fresh, list_targets()).items():
            test.digest = digests[name.split("::")[0]]
            known[name] = test
        save_trace(known, file)
    return known


def _judge(judge: Judge, mutant: Mutant, phase: str) -> Result:
    judgement = judge.judge(mutant)
    return Result(
        key=mutant.key,
        path=mutant.path,
        line=mutant.line,
        change=mutant.describe((ROOT / mutant.path).read_bytes()),
        digest=digest_file(mutant.path),
        verdict=judgement.verdict,
        phase=phase,
        by=judgement.by,
        ran=judgement.ran,
        cpu_s=judgement.cpu_s,
    )


def _find_memory() -> str | None:
    """A folder in memory, where there is one: tests make hundreds of small databases."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


class _Choice:
    """Keeps the tests of a phase."""

    def __init__(self, *, needs_server: bool) -> None:
        self._needs_server = needs_server

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [
            item
            for item in items
            if bool(SERVER_FIXTURES & set(getattr(item, "fixturenames", ()))) == self._needs_server
        ]


if __name__ == "__main__":
    sys.exit(main())
