"""Random statements thrown at the guard: what passes runs, with nothing but the guard in the way.

Each statement goes to the guard as one or more principals. What it lets through runs on a
connection that may write, and is held against the principal's copy. Trouble is: an exception of the
guard's, a mark of something hidden in a result or in an error's text (see ``marked_database.py``),
another result than the copy's, and whatever has changed in what the caller describes before and
after.
"""

from __future__ import annotations

import re
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from nl2sql.types import GuardedQuery, Violation
from tests.oracle.corpus import Query
from tests.oracle.marked_database import has_mark
from tests.oracle.outcomes import Outcome
from tests.oracle.tally import Finding, Tally
from tests.oracle.verdicts import Copy, Guarding, Judge, Kind, Session

Statements = Iterator[tuple[str, str]]
"""(kind, statement)."""


# Undefined column, undefined table.
_UNKNOWN = ("42703", "42P01")
# PostgreSQL's words for alias.name; a name alone stands in quotes there.
_QUALIFIED = re.compile(r'column [^"]\S*\.\S+ does not exist')
_MOST_UNKNOWN = 5


class Target:
    """One principal: the guard, and where what it lets through runs; ``last`` is the last outcome.

    ``hides`` says whether anything is hidden from the principal, by the oracle's own reading.
    """

    def __init__(
        self,
        name: str,
        guard: Guarding,
        session: Session,
        copy: Copy,
        reread: Guarding,
        *,
        hides: bool = True,
        effects: list[str] | None = None,
    ) -> None:
        """``reread`` writes a query as the guard reads it, for the copy; see ``Judge``.

        ``effects`` is where the session notes what its statements do beside returning rows.
        """
        self.name = name
        self.effects = effects if effects is not None else []
        self.hides = hides
        self.guard = guard
        self.last: Outcome | None = None
        self._session = session
        self.judge = Judge(self._guard, self, copy, reread=reread, tell=False)

    def run(self, statement: str, params: Sequence[object] = ()) -> Outcome:
        """Runs what passed the guard."""
        self.last = self._session.run(statement, params)
        return self.last

    def _guard(self, statement: str) -> GuardedQuery | Violation:
        return self.guard(statement)


Aimed = Iterator[tuple[Sequence[Target], str, str]]
"""(targets, kind, statement)."""


def aim_at_all(targets: Sequence[Target], statements: Statements) -> Aimed:
    """Each statement for each target."""
    return ((targets, kind, statement) for kind, statement in statements)


@dataclass
class FuzzReport:
    """The results of a run; ``troubles`` is empty when nothing is wrong.

    ``unknown`` are statements that passed though they name what the database does not find: there
    the guard took a name for granted. Where that name stands behind a source's, it is a trouble:
    PostgreSQL would have called a function of that name.
    """

    statements: int = 0
    executed: int = 0
    rows: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    tally: Tally = field(default_factory=Tally)
    unknown: list[Finding] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)

    def render(self) -> str:
        """The counts, the table of verdicts, and each trouble in full."""
        lines = [
            f"statements {self.statements:,} ({_render_counts(self.kinds)})",
            f"refused {self.refusals.total():,}, passed {self.tally.total:,},"
            f" without error {self.executed:,}, with rows {self.rows:,}",
            f"refused: {_render_counts(self.refusals)}",
            self.tally.render(),
            f"names that the guard took for granted: {len(self.unknown)}",
            *(finding.render() for finding in self.unknown[:_MOST_UNKNOWN]),
            f"troubles: {len(self.troubles)}",
            *self.troubles,
        ]
        return "\n".join(lines)

    def throw(self, target: Target, query: Query) -> None:
        """Runs one statement for one principal and adds the result."""
        target.last = None
        try:
            guarded = target.guard(query.sql)
            if isinstance(guarded, Violation):
                self.refusals[guarded.code] += 1
                return
            verdict = target.judge.judge(query.sql)
        except Exception:  # whatever it is, it is what is looked for
            lines = (f"exception for {target.name}: {query.sql!r}", traceback.format_exc())
            self.troubles.append("\n".join(lines))
            return
        finding = Finding(target.name, query, verdict)
        self.tally.add(finding)
        self.troubles += [
            f"effect for {target.name}: {text}\n  plain: {query.sql}" for text in target.effects
        ]
        target.effects.clear()
        if target.last is not None:
            self.executed += not target.last.failed
            self.rows += bool(target.last.rows)
            if target.last.sqlstate in _UNKNOWN:
                self.unknown.append(finding)
                if _QUALIFIED.match(target.last.message):
                    # With the name of a function there it would have been called.
                    text = f"{target.last.message}\n{finding.render()}"
                    self.troubles.append(f"name taken for granted: {text}")
            # A number that is computed may be like a mark: then the copy has it too. To whom
            # nothing is hidden, even where the copy is too slow to tell, no mark is shown.
            is_leak = target.hides and verdict.kind is not Kind.EQUAL
            if is_leak and has_mark(target.last):
                self.troubles.append(f"mark in the result\n{finding.render()}")
        if verdict.kind is Kind.MISMATCH:
            self.troubles.append(finding.render())


def throw_statements(
    aimed: Aimed,
    *,
    seconds: float,
    describe: Callable[[], Mapping[str, str]],
    progress: Callable[[FuzzReport], None] = lambda report: None,
) -> FuzzReport:
    """Throws each of (targets, kind, statement) at its own targets for so long after the first.

    ``describe`` says of each part of the databases what may not change. Raises what it raises, and
    what a session raises whose server is gone.
    """
    report = FuzzReport()
    before = describe()
    end = 0.0
    for targets, kind, statement in aimed:
        # What generates the statements may take a while to begin.
        end = end or time.monotonic() + seconds
        if time.monotonic() > end:
            break
        report.statements += 1
        report.kinds[kind.split(" ")[0]] += 1
        for target in targets:
            report.throw(target, Query("fuzz", kind, statement))
        progress(report)
    after = describe()
    report.troubles += [
        f"{name}: {before[name]} became {after.get(name)}"
        for name in before
        if before[name] != after.get(name)
    ]
    return report


def _render_counts(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {number:,}" for name, number in counts.most_common()) or "none"
