"""The score of a candidate: a sum of named terms, each the strength of a measure times its points.

It weighs candidates within a vote and decides if there is none. The design fixed the points of some
terms; docs/measurements/ranking.md derives those of the others from measurements: 25 points are a
factor e in the odds of being right.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from nl2sql.expectations.expectations import read_expectations
from nl2sql.types import (
    REQUIRED_UNREAD,
    Assessment,
    Diagnostic,
    Explained,
    Finding,
    GuardedQuery,
    Plan,
    Question,
    SchemaContext,
    Score,
    ScoreTerm,
)
from ranking.definition_use import DefinitionUse
from ranking.query import Query
from ranking.score.comparison_terms import measure_comparisons
from ranking.score.conjunction_terms import measure_conjunction
from ranking.score.form_terms import measure_form
from ranking.score.plan_terms import (
    measure_definitions,
    measure_plan,
    measure_required,
    measure_values,
)
from ranking.score.question_terms import Measure, measure_literals, measure_shape
from ranking.score.result_terms import measure_result
from ranking.score.unasked_terms import measure_unasked

BASE = 100.0
EXPLAIN_FAILS = -50.0
LINT = {"error": -25.0, "warning": -5.0}
# Points of rules that predict more, or nothing, about whether a candidate is right.
LINT_RULES = {
    "unused_join": -15.0,
    "not_in_with_nulls": 0.0,
    "ungrouped_column": 0.0,
    # Not measured: what the user defined is known to be meant.
    "measure_without_filter": -15.0,
}

QUERY_POINTS = {
    # Fixed by the design.
    "group_by_matches": 10.0,
    "order_and_limit_match": 10.0,
    "schema_adherence": 15.0,
    "join_match": 20.0,
    # For what the question asks for and the query lacks; see also ``vote.required``.
    "columns_differ": -25.0,
    "group_by_missing": -25.0,
    "best_missing": -25.0,
    "limit_differs": -25.0,
    "order_missing": -15.0,
    "count_missing": -25.0,
    "average_missing": -25.0,
    "negation_missing": -25.0,
    "distinct_missing": -15.0,
    "distinct_unasked": -10.0,
    "comparison_differs": -25.0,
    "direction_differs": -25.0,
    "extreme_missing": -25.0,
    "limit_unasked": -25.0,
    "best_by_key": -25.0,
    "both_missing": -25.0,
    # Where a derived candidate differs from its original in this alone.
    "rounding_missing": -10.0,
    "nulls_first": -5.0,
    "literals_unsaid": -25.0,
    "numbers_missing": -25.0,
    "tables_missed": -25.0,
    "links_missed": -25.0,
    "values_misplaced": -25.0,
    "values_unknown": -15.0,
    REQUIRED_UNREAD: -50.0,
    # Not measured; small, as other spellings of a definition are not recognised.
    "definition_used": 10.0,
}

RESULT_POINTS = {
    "one_number_differs": -15.0,
    "width_differs": -25.0,
    "rows_differ": -25.0,
    "no_rows": -20.0,
    "nulls_only": -25.0,
    "zeros_only": -20.0,
    "repeated_rows": -25.0,
}


def score_candidate(
    question: Question,
    query: Query | None,
    guarded: GuardedQuery,
    explained: Explained | Diagnostic,
    findings: tuple[Finding, ...],
    context: SchemaContext,
    plan: Plan,
    uses: Sequence[DefinitionUse] = (),
) -> Score:
    """All terms that apply before it has run; ``query`` is None if it could not be parsed.

    ``uses``: how it uses the definitions that the question names.
    """
    terms = [ScoreTerm("base", BASE)]
    if isinstance(explained, Diagnostic):
        terms.append(ScoreTerm("explain_fails", EXPLAIN_FAILS))
    for finding in findings:
        points = LINT_RULES.get(finding.rule, LINT[finding.severity])
        if points:
            terms.append(ScoreTerm(f"lint:{finding.rule}", points))
    if query is not None:
        expected = read_expectations(question.text)
        measured = chain(
            measure_shape(expected, query),
            measure_comparisons(expected, query),
            measure_unasked(expected, query),
            measure_form(expected, query),
            measure_conjunction(expected, query),
            measure_plan(query, guarded, plan),
            measure_required(query, guarded, context),
            measure_literals(question.search_text, query, context),
            measure_values(query, context.values),
            measure_definitions(uses),
        )
        terms += _weigh(measured, QUERY_POINTS)
    return Score(tuple(terms))


def score_values(score: Score, verified: Iterable[Measure]) -> Score:
    """The score with the terms for texts that the database does not contain."""
    return Score((*score.terms, *_weigh(verified, QUERY_POINTS)))


def score_result(question: str, assessment: Assessment) -> Score:
    """The assessment's score with the terms of its result; idempotent."""
    terms = [term for term in assessment.score.terms if term.name not in RESULT_POINTS]
    if assessment.result is not None:
        measured = measure_result(read_expectations(question), assessment.result)
        terms += _weigh(measured, RESULT_POINTS)
    return Score(tuple(terms))


def _weigh(measured: Iterable[Measure], points: dict[str, float]) -> list[ScoreTerm]:
    return [ScoreTerm(name, round(points[name] * strength, 1)) for name, strength in measured]
