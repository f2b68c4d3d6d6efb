"""The score of a candidate: a sum of named terms, each the strength of a measure times its points.

It weighs candidates within a vote and decides if there is none. The points are fitted to runs, see
``points``: 25 of them are a factor e in the odds of being right.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from nl2sql.expectations.expectations import read_expectations
from nl2sql.types import (
    Assessment,
    Candidate,
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
from nl2sql.words import drop_sorting
from ranking.definition_use import DefinitionUse
from ranking.query import Query
from ranking.score.condition_terms import measure_literals
from ranking.score.name_terms import (
    measure_asked_outputs,
    measure_coverage,
    measure_naming,
    measure_outputs,
)
from ranking.score.plan_terms import (
    ASKED_RULES,
    measure_definitions,
    measure_origin,
    measure_plan,
    measure_values,
)
from ranking.score.points import BASE, Measure, weigh_measures
from ranking.score.question_terms import measure_shape
from ranking.score.result_terms import EMPTY_TERMS, RESULT_TERMS, measure_result

_ASKED_TERMS = frozenset(f"derived:{rule}" for rule in ASKED_RULES)


def score_candidate(
    question: Question,
    candidate: Candidate,
    query: Query | None,
    guarded: GuardedQuery,
    explained: Explained | Diagnostic | None,
    findings: tuple[Finding, ...],
    context: SchemaContext,
    plan: Plan,
    uses: Sequence[DefinitionUse] = (),
) -> Score:
    """All terms that apply before it has run; ``query`` is None if it could not be parsed.

    ``uses``: how it uses the definitions that the question names.
    """
    measured: list[Measure] = [("explain_fails", 1.0)] if isinstance(explained, Diagnostic) else []
    measured += [(f"lint:{finding.rule}", 1.0) for finding in findings]
    measured += measure_origin(candidate)
    if query is not None:
        expected = read_expectations(question.english)
        naming, searched = map(drop_sorting, (question.english, question.search_text))
        measured += chain(
            measure_shape(expected, query),
            measure_outputs(naming, query),
            measure_asked_outputs(question.english, query),
            measure_coverage(f"{naming} {question.evidence}", candidate.sql, query, uses),
            measure_naming(searched, query, uses),
            measure_plan(query, guarded, plan),
            measure_literals(question.search_text, query, context),
            measure_values(query, context.values),
            measure_definitions(uses),
        )
    return Score((ScoreTerm("base", BASE), *weigh_measures(measured)))


def score_result(question: str, assessment: Assessment) -> Score:
    """The assessment's score with the terms of its result; idempotent.

    What a query finds shows that the texts it looks for are stored: a code such as ``DE`` is in no
    question about Germany, and no fault. What a rule derives by the question's words, and finds
    nothing, is no better than any other guess.
    """
    terms = [term for term in assessment.score.terms if term.name not in RESULT_TERMS]
    if assessment.result is not None:
        measured = list(measure_result(read_expectations(question), assessment.result))
        is_empty = not EMPTY_TERMS.isdisjoint(name for name, _ in measured)
        refuted = _ASKED_TERMS if is_empty else {"values_unsaid"}
        terms = [term for term in terms if term.name not in refuted]
        terms += weigh_measures(measured)
    return Score(tuple(terms))
