"""Rules on trees: one in each file, the function named like the file, applied in the tuple's order.

Each changes the tree in place and returns whether it did.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from repair.normalize.facts import Facts
from repair.normalize.tree_rules.alias_references import alias_references
from repair.normalize.tree_rules.booleans import booleans
from repair.normalize.tree_rules.collations import collations
from repair.normalize.tree_rules.comma_joins import comma_joins
from repair.normalize.tree_rules.concatenation import concatenation
from repair.normalize.tree_rules.condition_counts import condition_counts
from repair.normalize.tree_rules.conditionals import conditionals
from repair.normalize.tree_rules.conversions import conversions
from repair.normalize.tree_rules.current_time import current_time
from repair.normalize.tree_rules.date_casts import date_casts
from repair.normalize.tree_rules.date_differences import date_differences
from repair.normalize.tree_rules.date_formats import date_formats
from repair.normalize.tree_rules.date_parts import date_parts
from repair.normalize.tree_rules.date_shifts import date_shifts
from repair.normalize.tree_rules.date_truncation import date_truncation
from repair.normalize.tree_rules.distinct_on import distinct_on
from repair.normalize.tree_rules.distinct_order import distinct_order
from repair.normalize.tree_rules.distinct_pairs import distinct_pairs
from repair.normalize.tree_rules.double_quoted_text import double_quoted_text
from repair.normalize.tree_rules.dual import dual
from repair.normalize.tree_rules.extremes import extremes
from repair.normalize.tree_rules.having_without_group import having_without_group
from repair.normalize.tree_rules.is_values import is_values
from repair.normalize.tree_rules.null_functions import null_functions
from repair.normalize.tree_rules.null_text import null_text
from repair.normalize.tree_rules.number_functions import number_functions
from repair.normalize.tree_rules.partial_dates import partial_dates
from repair.normalize.tree_rules.patterns import patterns
from repair.normalize.tree_rules.qualify import qualify
from repair.normalize.tree_rules.quantifiers import quantifiers
from repair.normalize.tree_rules.regular_expressions import regular_expressions
from repair.normalize.tree_rules.round_digits import round_digits
from repair.normalize.tree_rules.rownum import rownum
from repair.normalize.tree_rules.schema_prefix import schema_prefix
from repair.normalize.tree_rules.set_operands import set_operands
from repair.normalize.tree_rules.text_aggregates import text_aggregates
from repair.normalize.tree_rules.text_arguments import text_arguments
from repair.normalize.tree_rules.text_functions import text_functions
from repair.normalize.tree_rules.text_numbers import text_numbers
from repair.normalize.tree_rules.text_search import text_search

TreeRule = Callable[[exp.Expr, Facts], bool]

RULES: tuple[TreeRule, ...] = (
    dual,
    comma_joins,
    schema_prefix,
    rownum,
    double_quoted_text,
    alias_references,
    having_without_group,
    conditionals,
    null_functions,
    current_time,
    date_differences,
    date_parts,
    date_truncation,
    date_formats,
    date_casts,
    date_shifts,
    text_aggregates,
    concatenation,
    text_functions,
    text_search,
    text_arguments,
    regular_expressions,
    patterns,
    collations,
    conversions,
    round_digits,
    extremes,
    number_functions,
    condition_counts,
    distinct_pairs,
    is_values,
    booleans,
    null_text,
    text_numbers,
    partial_dates,
    quantifiers,
    set_operands,
    qualify,
    distinct_on,
    distinct_order,
)
