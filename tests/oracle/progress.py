"""What a long run prints on standard error while it continues."""

from __future__ import annotations

import sys
import time

from tests.oracle.fuzz import FuzzReport
from tests.oracle.metamorphic.verdicts import PairTally
from tests.oracle.tally import Tally
from tests.oracle.verdicts import Kind

_SECONDS_BETWEEN_REPORTS = 30.0


class Progress:
    """Prints a line on standard error every half minute."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def __call__(self, name: str, tally: Tally) -> None:
        if time.monotonic() - self._last >= _SECONDS_BETWEEN_REPORTS:
            self._last = time.monotonic()
            mismatches = tally.count(Kind.MISMATCH)
            print(f"{name}: {tally.total:,} judged, {mismatches} mismatches", file=sys.stderr)


class PairProgress:
    """Prints a line on standard error for each change, and each leak as soon as it is found."""

    def __init__(self) -> None:
        self._told = 0

    def __call__(self, name: str, tally: PairTally) -> None:
        leaks = tally.leaks
        for finding in leaks[self._told :]:
            print(finding.render(), file=sys.stderr)
        self._told = len(leaks)
        print(f"{name}: {tally.total:,} pairs, {len(leaks)} leaks", file=sys.stderr)


class TroubleTeller:
    """Prints each trouble on standard error as it comes, and a line every half minute."""

    def __init__(self) -> None:
        self._progress = Progress()
        self._begin = time.monotonic()
        self._told = 0

    def __call__(self, report: FuzzReport) -> None:
        for text in report.troubles[self._told :]:
            elapsed = time.monotonic() - self._begin
            print(f"[{elapsed:.0f} s, statement {report.statements:,}] {text}", file=sys.stderr)
        self._told = len(report.troubles)
        counts = f"{report.statements:,} statements, troubles {len(report.troubles)}"
        self._progress(counts, report.tally)
