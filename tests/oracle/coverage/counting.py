"""Counts the features of statements, of all that a generator makes and of those that are admitted.

A statement counts once for each of its features, however often it has it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from nl2sql.types import Violation
from tests.oracle.verdicts import Guarding

WANTED = 100
"""How often each construct must be produced by some generator, and admitted."""


@dataclass
class Counts:
    """Counts of one generator: its statements, those admitted, and both by feature."""

    statements: int = 0
    admitted: int = 0
    produced_features: Counter[str] = field(default_factory=Counter)
    admitted_features: Counter[str] = field(default_factory=Counter)
    refusals: dict[str, Counter[str]] = field(default_factory=dict)


def count_features(
    statements: Iterable[str], guard: Guarding, list_features: Callable[[str], set[str]]
) -> Counts:
    """Counts the features of the texts as they are written, not as the guard writes them."""
    counts = Counts()
    for statement in statements:
        features = list_features(statement)
        counts.statements += 1
        counts.produced_features.update(features)
        verdict = guard(statement)
        if not isinstance(verdict, Violation):
            counts.admitted += 1
            counts.admitted_features.update(features)
            continue
        for feature in features:
            counts.refusals.setdefault(feature, Counter())[verdict.code] += 1
    return counts


@dataclass(frozen=True, slots=True)
class Coverage:
    """One database: what is expected, and the counts by generator."""

    database: str
    expected: Mapping[str, str]
    counts: Mapping[str, Counts]

    def find_gaps(self) -> list[str]:
        """The features that no generator produces often enough, without a known reason."""
        return [
            feature
            for feature, reason in self.expected.items()
            if not reason and max(self._list(feature, admitted=False)) < WANTED
        ]

    def render(self) -> str:
        """The table as Markdown, then the features that are never admitted, with the reasons."""
        return "\n".join(self._render_lines())

    def _list(self, feature: str, *, admitted: bool) -> Sequence[int]:
        return [
            (counts.admitted_features if admitted else counts.produced_features)[feature]
            for counts in self.counts.values()
        ]

    def _render_lines(self) -> Iterator[str]:
        yield f"## {self.database}"
        yield ""
        for name, counts in self.counts.items():
            yield f"- {name}: {counts.statements:,} statements, {counts.admitted:,} admitted"
        gaps, refused = self.find_gaps(), self._list_refused()
        yield ""
        yield (
            f"{len(self.expected)} constructs, of which {len(self._list_explained())} cannot stand "
            f"in a query (below); fewer than {WANTED} times produced: {len(gaps)}; produced and "
            f"never admitted: {len(refused)}."
        )
        yield ""
        yield f"| construct | {' | '.join(self.counts)} | |"
        yield f"|---|{'---:|' * len(self.counts)}---|"
        for feature, reason in self.expected.items():
            if not reason:
                yield self._render_row(feature, feature in gaps, feature in refused)
        yield ""
        yield "Not produced, and why:"
        yield ""
        for feature, reason in self._list_explained():
            yield f"- `{feature}`: {reason}"

    def _render_row(self, feature: str, is_gap: bool, is_refused: bool) -> str:
        cells = [
            f"{produced} / {admitted}"
            for produced, admitted in zip(
                self._list(feature, admitted=False),
                self._list(feature, admitted=True),
                strict=True,
            )
        ]
        notes = [f"**below {WANTED}**"] if is_gap else []
        if is_refused:
            codes = Counter[str]()
            for counts in self.counts.values():
                codes.update(counts.refusals.get(feature, {}))
            notes.append(f"refused: {', '.join(code for code, _ in codes.most_common(2))}")
        name = feature.replace("|", "\\|")
        return f"| `{name}` | {' | '.join(cells)} | {'; '.join(notes)} |"

    def _list_refused(self) -> list[str]:
        return [
            feature
            for feature, reason in self.expected.items()
            if not reason
            and any(self._list(feature, admitted=False))
            and not any(self._list(feature, admitted=True))
        ]

    def _list_explained(self) -> list[tuple[str, str]]:
        return [(feature, reason) for feature, reason in self.expected.items() if reason]
