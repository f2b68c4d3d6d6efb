"""Computes the figures of a retrieval run from its records.

The cause of a miss is the first rule of ``CAUSES`` that holds. The rules use only the results of
the search, so a cause says where to look, not what to change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from evaluation.metrics.figures import Estimate, Percentiles
from evaluation.metrics.statistics import estimate, percentile
from evaluation.retrieval.records import Finding, MissedTable, RetrievalManifest, RetrievalRecord

RECALL_AT = (1, 3, 5, 8, 12, 20)
_MOST_EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class Cause:
    """``name`` is for files, ``text`` for people; ``holds(missed table, budget)`` is the rule."""

    name: str
    text: str
    holds: Callable[[MissedTable, int], bool]


CAUSES = (
    Cause(
        "namesake",
        "a table of the same name in another schema was found instead",
        lambda missed, budget: bool(missed.namesake),
    ),
    Cause(
        "just_outside",
        "ranked just outside the budget, within twice the budget",
        lambda missed, budget: missed.rank is not None and missed.rank <= 2 * budget,
    ),
    Cause(
        "key_away",
        "one foreign key away from a table that was found",
        lambda missed, budget: bool(missed.neighbour),
    ),
    Cause(
        "no_word",
        "no word in common with the question, and a low cosine rank",
        lambda missed, budget: not missed.shared_words,
    ),
    Cause(
        "other_schema",
        "only tables of other schemas were found",
        lambda missed, budget: not missed.schema_shown,
    ),
    Cause("outranked", "shares words, but many tables rank higher", lambda missed, budget: True),
)


def find_cause(missed: MissedTable, budget: int) -> Cause:
    """The cause of one miss.

    >>> find_cause(MissedTable(table="a.orders", rank=14, namesake="b.orders"), 12).name
    'namesake'
    >>> find_cause(MissedTable(table="a.orders", rank=14), 12).name
    'just_outside'
    """
    return next(cause for cause in CAUSES if cause.holds(missed, budget))


@dataclass(frozen=True, slots=True)
class MissedBy:
    """The misses of one cause: tables, questions, and a few examples (question, table)."""

    cause: str
    text: str
    tables: int
    questions: int
    examples: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class VariantFigures:
    """One variant over all questions.

    ``all_tables`` is the share of questions for which every gold table is shown, ``tables`` the
    mean share of gold tables shown, ``recall_at`` that among the first k, ``columns`` the mean
    share of gold columns kept in the shown gold tables. ``shown_*`` are means per question.
    """

    variant: str
    budget: int
    questions: int
    all_tables: Estimate
    tables: Estimate
    recall_at: Mapping[int, Estimate]
    columns: Estimate
    shown_tables: float
    shown_columns: float
    shown_tokens: float
    stages_ms: Mapping[str, Percentiles]
    missed: tuple[MissedBy, ...]
    errors: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class RetrievalFigures:
    """All figures of a run. ``not_counted`` pairs a question with the reason."""

    variants: tuple[VariantFigures, ...]
    not_counted: tuple[tuple[str, str], ...]


def summarize(manifest: RetrievalManifest, records: Sequence[RetrievalRecord]) -> RetrievalFigures:
    """The figures of every variant, over the questions that are counted."""
    counted = [record for record in records if record.counts]
    return RetrievalFigures(
        tuple(_measure(name, manifest.budgets[name], counted) for name in manifest.variants)
        if counted
        else (),
        tuple((record.id, record.gold_error) for record in records if not record.counts),
    )


def recall(record: RetrievalRecord, finding: Finding, k: int | None = None) -> float:
    """The share of gold tables among the first ``k``, or among those shown."""
    names = finding.ranking[:k] if k else [table.table for table in finding.tables]
    return len({*names} & {*record.gold_tables}) / len(record.gold_tables)


def _measure(name: str, budget: int, records: Sequence[RetrievalRecord]) -> VariantFigures:
    pairs = [(record, record.findings[name]) for record in records]
    findings = [finding for _, finding in pairs]
    stages = {"embed the question": [record.embed_ms for record in records]}
    for finding in findings:
        for stage, milliseconds in finding.stages_ms.items():
            stages.setdefault(stage, []).append(milliseconds)
    whole = [finding for finding in findings if not finding.error]
    stages["all but embedding"] = [sum(finding.stages_ms.values()) for finding in whole]
    stages["of that, CPU of this process"] = [finding.cpu_ms for finding in whole]
    return VariantFigures(
        variant=name,
        budget=budget,
        questions=len(records),
        all_tables=estimate([float(not finding.missed_tables) for finding in findings]),
        tables=estimate([recall(record, finding) for record, finding in pairs]),
        recall_at={
            k: estimate([recall(record, finding, k) for record, finding in pairs])
            for k in RECALL_AT
        },
        columns=estimate([share for pair in pairs if (share := _column_recall(*pair)) is not None]),
        shown_tables=_mean([len(finding.tables) for finding in findings]),
        shown_columns=_mean([finding.columns for finding in findings]),
        shown_tokens=_mean([finding.tokens for finding in findings]),
        stages_ms={
            stage: Percentiles(percentile(values, 50), percentile(values, 95))
            for stage, values in stages.items()
        },
        missed=_sort_misses(budget, pairs),
        errors=tuple((record.id, finding.error) for record, finding in pairs if finding.error),
    )


def _column_recall(record: RetrievalRecord, finding: Finding) -> float | None:
    """The share of gold columns kept in shown gold tables; None if no such table is shown."""
    shown = {table.table for table in finding.tables}
    inside = [column for column in record.gold_columns if _table_of(column, record) in shown]
    if not inside:
        return None
    return 1 - len(set(finding.missed_columns) & set(inside)) / len(inside)


def _table_of(column: str, record: RetrievalRecord) -> str:
    """The gold table of the column. Names may contain dots, so they are not split."""
    return next((table for table in record.gold_tables if column.startswith(f"{table}.")), "")


def _sort_misses(
    budget: int, pairs: Sequence[tuple[RetrievalRecord, Finding]]
) -> tuple[MissedBy, ...]:
    """Misses by cause, most frequent first."""
    found: dict[str, list[tuple[str, MissedTable]]] = {}
    for record, finding in pairs:
        if not finding.error:
            for missed in finding.missed_tables:
                cause = find_cause(missed, budget)
                found.setdefault(cause.name, []).append((record.id, missed))
    texts = {cause.name: cause.text for cause in CAUSES}
    counts = Counter({name: len(misses) for name, misses in found.items()})
    return tuple(
        MissedBy(
            cause=name,
            text=texts[name],
            tables=count,
            questions=len({question for question, _ in found[name]}),
            examples=tuple(
                (question, _show(missed)) for question, missed in found[name][:_MOST_EXAMPLES]
            ),
        )
        for name, count in counts.most_common()
    )


def _show(missed: MissedTable) -> str:
    """The table with the facts about its cause.

    >>> _show(MissedTable(table="a.orders", rank=14, namesake="b.orders"))
    'a.orders (found: b.orders; rank 14)'
    """
    facts = [
        f"found: {missed.namesake}" if missed.namesake else "",
        f"rank {missed.rank}" if missed.rank else "",
        f"next to {missed.neighbour}" if missed.neighbour else "",
    ]
    text = "; ".join(fact for fact in facts if fact)
    return f"{missed.table} ({text})" if text else missed.table


def _mean(values: Sequence[int]) -> float:
    return sum(values) / len(values) if values else 0.0
