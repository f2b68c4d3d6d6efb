"""The score of one candidate, as a sum of named terms.

It orders candidates within a vote and decides where there is none. The values are the design's.
"""

from __future__ import annotations

import re

from nl2sql.types import Diagnostic, Explained, Finding, GuardedQuery, Plan, Score, ScoreTerm

BASE = 100.0
EXPLAIN_FAILS = -50.0
LINT_ERROR = -25.0
LINT_WARNING = -5.0
GROUP_BY_MATCHES = 10.0
ORDER_AND_LIMIT_MATCH = 10.0
SCHEMA_ADHERENCE = 15.0
JOIN_MATCH = 20.0

_WANTS_GROUPS = re.compile(r"\b(per|each|every|by (?!\d))\b", re.IGNORECASE)
_WANTS_TOP = re.compile(
    r"\b(top|most|least|highest|lowest|largest|smallest|biggest|best|first|latest|newest|oldest)\b",
    re.IGNORECASE,
)


def score_candidate(
    question: str,
    query: GuardedQuery,
    explained: Explained | Diagnostic,
    findings: tuple[Finding, ...],
    plan: Plan,
) -> Score:
    """All terms that apply; a term that does not is not listed."""
    sql = query.sql.upper()
    terms = [ScoreTerm("base", BASE)]
    if isinstance(explained, Diagnostic):
        terms.append(ScoreTerm("explain_fails", EXPLAIN_FAILS))
    terms += [
        ScoreTerm(
            f"lint:{finding.rule}", LINT_ERROR if finding.severity == "error" else LINT_WARNING
        )
        for finding in findings
    ]
    if "GROUP BY" in sql and _WANTS_GROUPS.search(question):
        terms.append(ScoreTerm("group_by_matches", GROUP_BY_MATCHES))
    if "ORDER BY" in sql and "LIMIT" in sql and _WANTS_TOP.search(question):
        terms.append(ScoreTerm("order_and_limit_match", ORDER_AND_LIMIT_MATCH))
    if adherence := _share(set(query.tables), {link.table for link in plan.links.links}):
        terms.append(ScoreTerm("schema_adherence", round(SCHEMA_ADHERENCE * adherence, 1)))
    planned = set(plan.joins.tables)
    if len(planned) > 1 and (match := _jaccard(set(query.tables), planned)):
        terms.append(ScoreTerm("join_match", round(JOIN_MATCH * match, 1)))
    return Score(tuple(terms))


def _share(part: set[str], whole: set[str]) -> float:
    """The share of ``part`` that lies in ``whole``."""
    return len(part & whole) / len(part) if part else 0.0


def _jaccard(left: set[str], right: set[str]) -> float:
    return len(left & right) / len(left | right) if left | right else 0.0
