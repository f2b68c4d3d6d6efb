"""Lint rules: one in each file, the function named like the file, all listed in one tuple.

A rule takes a query, as ``ranking.query`` reads it, and returns a finding or None. A candidate with
an error is almost always wrong, one with a warning often: docs/measurements.md says how
many gold queries the errors hit. The rules check the candidate's own text, since users see the
findings, and the guard's rewriting wraps every table. One rule needs more than the query and is not
in the tuple:
``measure_without_filter`` compares it with the definitions that the question names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from nl2sql.types import Finding
from ranking.definition_use import DefinitionUse
from ranking.lint.aggregate_without_group import aggregate_without_group
from ranking.lint.cartesian_join import cartesian_join
from ranking.lint.contradiction import contradiction
from ranking.lint.count_of_single_rows import count_of_single_rows
from ranking.lint.date_compared_with_text import date_compared_with_text
from ranking.lint.duplicate_column import duplicate_column
from ranking.lint.empty_range import empty_range
from ranking.lint.group_of_one_value import group_of_one_value
from ranking.lint.having_without_group import having_without_group
from ranking.lint.integer_division import integer_division
from ranking.lint.join_off_keys import join_off_keys
from ranking.lint.like_without_wildcard import like_without_wildcard
from ranking.lint.limit_without_order import limit_without_order
from ranking.lint.measure_without_filter import measure_without_filter
from ranking.lint.missing_join_condition import missing_join_condition
from ranking.lint.not_in_with_nulls import not_in_with_nulls
from ranking.lint.null_comparison import null_comparison
from ranking.lint.number_compared_with_text import number_compared_with_text
from ranking.lint.outer_column import outer_column
from ranking.lint.select_star import select_star
from ranking.lint.self_comparison import self_comparison
from ranking.lint.sum_of_key import sum_of_key
from ranking.lint.ungrouped_column import ungrouped_column
from ranking.lint.unlisted_code import unlisted_code
from ranking.lint.unused_cte import unused_cte
from ranking.lint.unused_join import unused_join
from ranking.query import Query

RULES: tuple[Callable[[Query], Finding | None], ...] = (
    # Errors.
    cartesian_join,
    missing_join_condition,
    self_comparison,
    join_off_keys,
    outer_column,
    number_compared_with_text,
    date_compared_with_text,
    null_comparison,
    contradiction,
    empty_range,
    aggregate_without_group,
    count_of_single_rows,
    group_of_one_value,
    unlisted_code,
    # Warnings.
    ungrouped_column,
    having_without_group,
    unused_join,
    unused_cte,
    not_in_with_nulls,
    integer_division,
    sum_of_key,
    like_without_wildcard,
    limit_without_order,
    duplicate_column,
    select_star,
)


def lint_query(query: Query, uses: Iterable[DefinitionUse] = ()) -> tuple[Finding, ...]:
    """All findings in the order of the rules, errors first.

    ``uses``: how the query uses the definitions that the question names.
    """
    findings = [finding for rule in RULES if (finding := rule(query)) is not None]
    undefined = measure_without_filter(uses)
    return (*findings, *((undefined,) if undefined else ()))
