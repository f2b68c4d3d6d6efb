"""Ranking: every guarded candidate is explained and scored; what works is run and votes."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

from nl2sql.errors import Busy
from nl2sql.protocols import Executor, Guard
from nl2sql.results.json_values import describe_unreadable
from nl2sql.settings import StageSettings
from nl2sql.sql.threads import run_in_parser_thread, run_in_results_thread
from nl2sql.types import (
    NOT_PERMITTED,
    Assessment,
    Candidate,
    Diagnostic,
    Display,
    Explained,
    GuardedQuery,
    Interpretation,
    Plan,
    Question,
    Ranking,
    ResultSet,
    SchemaContext,
    Violation,
)
from ranking.confidence.calibration import Calibration
from ranking.confidence.features import measure_features
from ranking.confidence.lateness import misses_times
from ranking.definition_use import find_uses
from ranking.display import add_units, read_display
from ranking.lint import lint_query
from ranking.query import read_candidate
from ranking.query_words import describe_apart
from ranking.result_notes import Notes, answers_part, write_notes
from ranking.score.score import score_candidate, score_result
from ranking.vote.order import list_errors, says_nothing, vote
from ranking.vote.polling import (
    VOTE_LIMITS,
    add_diagnostic,
    cut_page,
    fetch_page,
    find_unrun_leader,
    run_candidates,
    run_whole,
)

# The origins of candidates that go back to what the model wrote.
_WRITTEN = ("sample", "repair", "derived")
# What a rule understood that the question does not say.
_RULE_NOTES = {
    "present_rows": "Only what holds now: rows whose period has ended are left out.",
    "nulls_last": "What has no value does not come first.",
}
_TIMELESS = "No time is compared with another, as it takes to tell what is late."
_TABLELESS = "The query reads no table, so its result does not come from the database."
_PARTIAL = (
    "The question seems to ask for several things, of which this is one. Ask for each by itself."
)
_UNNAMED = "The result does not show to which group each row belongs."
_DENIED = "Most candidates read what you may not read; this one reads something else instead."
# What answers a part of the question, or may show any row, is not called probably right.
_MOST_IF_PARTIAL = 0.65
# The lowest threshold: an answer that nothing supports is not given.
_LEAST_CONFIDENCE = 0.0001

# Interpretations that are offered.
_MOST = 2
# Enough to see what an interpretation says; whoever picks it gets all rows.
_MOST_ROWS = 20


@dataclass(frozen=True, slots=True)
class CandidateRanker:
    """Assesses candidates one by one and ranks them together.

    ``calibration`` estimates how likely a ranking's winner is right.
    """

    guard: Guard
    executor: Executor
    settings: StageSettings
    calibration: Calibration

    @property
    def threshold(self) -> float:
        """The confidence below which there is a choice of interpretations."""
        least = self.settings.ranking.min_confidence
        return max(self.calibration.threshold if least is None else least, _LEAST_CONFIDENCE)

    async def assess(
        self,
        question: Question,
        candidate: Candidate,
        query: GuardedQuery,
        context: SchemaContext,
        plan: Plan,
    ) -> Assessment:
        """EXPLAIN, findings and score; without a turn at the database, no EXPLAIN.

        Raises Unavailable.
        """
        explained: Explained | Diagnostic | None = None
        with suppress(Busy):
            explained = await self.executor.explain(query)
        # The candidate's own text: the guard's rewriting wraps every table.
        assessed = await run_in_parser_thread(
            _read, candidate, question, query, explained, context, plan
        )
        if isinstance(explained, Diagnostic):
            return add_diagnostic(assessed, explained)
        return replace(assessed, explained=explained, unrun="" if explained else "busy")

    async def rank(
        self, question: Question, assessments: tuple[Assessment, ...], *, samples: int
    ) -> Ranking:
        """Runs the candidates that have not run yet and orders all by the vote.

        Raises Unavailable.
        """
        run = await run_candidates(self.executor, assessments)
        return await run_in_results_thread(self._vote, question, run, samples)

    async def conclude(
        self, question: Question, context: SchemaContext, ranking: Ranking
    ) -> Ranking:
        """Completes the ranking with the winner's page and confidence. Raises Unavailable.

        Below the threshold it has interpretations to choose from.

        A leader that has not run is run now; if that fails, the next one leads.
        """
        while (leader := find_unrun_leader(ranking)) is not None:
            has_next = ranking.winner is not None
            run = await run_whole(self.executor, leader, VOTE_LIMITS.rows, has_next=has_next)
            others = (assessment for assessment in ranking.assessments if assessment is not leader)
            ranking = await run_in_results_thread(
                self._vote, question, (run, *others), ranking.samples
            )
        winner = ranking.winner
        if winner is None:
            return ranking
        page = await fetch_page(self.executor, winner, question.max_rows)
        query = await run_in_parser_thread(read_candidate, winner.candidate.sql, context)
        unreadable = ""
        if page.result is not None:
            told = await run_in_parser_thread(add_units, page.result, query)
            page = replace(page, result=told)
            unreadable = await run_in_results_thread(describe_unreadable, told.rows)
        notes = Notes()
        if query is not None:
            is_empty = says_nothing(winner.result)
            notes = await write_notes(self.guard, self.executor, question, query, is_empty=is_empty)
        features = measure_features(ranking, is_unstored=notes.is_unstored)
        confidence, remarks = self.calibration.estimate(features), []
        if query is not None and winner.candidate.origin in _WRITTEN:
            if misses_times(question, query):
                confidence, remarks = 0.0, [_TIMELESS]
            elif isinstance(winner.verdict, GuardedQuery) and not winner.verdict.tables:
                confidence, remarks = 0.0, [_TABLELESS]
            elif _hides_groups(winner):
                confidence, remarks = 0.0, [_UNNAMED]
            elif _count_denied(ranking) > winner.votes:
                confidence, remarks = 0.0, [_DENIED]
            elif errors := list_errors(winner):
                confidence, remarks = 0.0, errors
            elif answers_part(question.english, query):
                confidence, remarks = min(confidence, _MOST_IF_PARTIAL), [_PARTIAL]
            elif notes.is_doubtful:
                confidence = min(confidence, _MOST_IF_PARTIAL)
        remarks += [*filter(None, (unreadable,)), *_list_rule_notes(ranking)]
        words = await run_in_parser_thread(describe_apart, (winner.candidate.sql,), context.dialect)
        ranking = replace(
            ranking,
            assessments=tuple(
                page if assessment is winner else assessment for assessment in ranking.assessments
            ),
            features=features,
            confidence=confidence,
            threshold=self.threshold,
            description=words[0],
            notes=(*notes.sentences, *remarks),
        )
        if ranking.confidence >= ranking.threshold:
            return ranking
        interpretations = await run_in_parser_thread(
            build_interpretations, ranking, context, question.max_rows
        )
        return replace(ranking, interpretations=interpretations)

    def _vote(
        self, question: Question, assessments: tuple[Assessment, ...], samples: int
    ) -> Ranking:
        assessments = tuple(
            replace(assessment, score=score_result(question.english, assessment))
            for assessment in assessments
        )
        if self.settings.flags.vote:
            return vote(assessments, samples=samples)
        first = next(
            (assessment for assessment in assessments if assessment.result is not None), None
        )
        if first is None:
            return Ranking(assessments, samples=samples)
        rest = tuple(assessment for assessment in assessments if assessment is not first)
        # The first is the only one that votes.
        alone = vote((first,), max(1, first.candidate.samples))
        return replace(alone, assessments=(*alone.assessments, *rest), quorum=False)


def _hides_groups(assessment: Assessment) -> bool:
    """Whether it has figures of several groups, and nothing says which group has which."""
    is_unshown = any(term.name == "groups_unshown" for term in assessment.score.terms)
    return is_unshown and assessment.result is not None and len(assessment.result.rows) > 1


def _count_denied(ranking: Ranking) -> int:
    """The samples that read what the principal may not read."""
    return sum(
        each.candidate.samples
        for each in ranking.assessments
        if isinstance(each.verdict, Violation) and each.verdict.code == NOT_PERMITTED
    )


def _list_rule_notes(ranking: Ranking) -> list[str]:
    """The notes of the rules that made the winner, and of those that made what it derives from."""
    candidates = {each.candidate.id: each.candidate for each in ranking.assessments}
    candidate = ranking.winner.candidate if ranking.winner else None
    rules = []
    while candidate is not None:
        rules.append(candidate.rule)
        candidate = candidates.get(candidate.derived_from)
    return [note for rule, note in _RULE_NOTES.items() if rule in rules]


def _read(
    candidate: Candidate,
    question: Question,
    verdict: GuardedQuery,
    explained: Explained | Diagnostic | None,
    context: SchemaContext,
    plan: Plan,
) -> Assessment:
    """What its text says: findings, score, used definitions, display."""
    query = read_candidate(candidate.sql, context)
    uses = find_uses(query, context) if query else ()
    findings = lint_query(query, question.english, uses) if query else ()
    score = score_candidate(
        question, candidate, query, verdict, explained, findings, context, plan, uses
    )
    used = tuple(use.definition.name for use in uses if use.is_whole)
    display = read_display(query) if query else Display()
    return Assessment(
        candidate, verdict, findings=findings, score=score, definitions=used, display=display
    )


def build_interpretations(
    ranking: Ranking, context: SchemaContext, max_rows: int = _MOST_ROWS
) -> tuple[Interpretation, ...]:
    """One or two interpretations, best first: the best candidates that ran of the two best groups.

    Descriptions come from the queries alone, the same for the same query. The rows, at most
    ``max_rows``, are the first that the vote read: nothing runs again.
    """
    most = min(max_rows, _MOST_ROWS)
    best: dict[int, tuple[Assessment, ResultSet]] = {}
    for assessment in ranking.assessments:
        if assessment.result is not None and not assessment.failed:
            best.setdefault(assessment.group, (assessment, assessment.result))
    chosen = list(best.values())[:_MOST]
    words = describe_apart([each.candidate.sql for each, _ in chosen], context.dialect)
    return tuple(
        Interpretation(
            sql=each.candidate.sql,
            description=text,
            share=round(each.votes / ranking.samples, 4) if ranking.samples else 0.0,
            result=add_units(cut_page(page, most), read_candidate(each.candidate.sql, context)),
        )
        for (each, page), text in zip(chosen, words, strict=True)
    )
