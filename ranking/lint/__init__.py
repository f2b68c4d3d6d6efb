"""Lint rules, all listed in one tuple.

A rule takes a query, as ``ranking.query`` reads it, and returns a finding or None. A candidate with
an error is almost always wrong, one with a warning often: docs/measurements.md says how
many gold queries the errors hit. The rules check the candidate's own text, since users see the
findings, and the guard's rewriting wraps every table. ``counted_name`` is left out where the
question asks for what is called so. One rule needs more than the query and is not in the tuple:
``measure_without_filter`` compares it with the definitions that the question names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from nl2sql.types import Finding
from ranking.definition_use import DefinitionUse
from ranking.lint.joins import join_off_keys, outer_column, unused_join
from ranking.lint.outputs import (
    aggregate_without_group,
    counted_name,
    measure_without_filter,
    unlisted_code,
)
from ranking.query import Query

_NAMED = re.compile(r"\b(?:call|nam|titl)(?:ed|es?)\b", re.IGNORECASE)

RULES: tuple[Callable[[Query], Finding | None], ...] = (
    # Errors.
    join_off_keys,
    outer_column,
    aggregate_without_group,
    counted_name,
    unlisted_code,
    # Warnings.
    unused_join,
)


def lint_query(
    query: Query, question: str = "", uses: Iterable[DefinitionUse] = ()
) -> tuple[Finding, ...]:
    """All findings in the order of the rules, errors first.

    ``uses``: how the query uses the definitions that the question names. A question for what is
    called Ann may count names.
    """
    rules = [rule for rule in RULES if rule is not counted_name or not _NAMED.search(question)]
    findings = [finding for rule in rules if (finding := rule(query)) is not None]
    undefined = measure_without_filter(uses)
    return (*findings, *((undefined,) if undefined else ()))
