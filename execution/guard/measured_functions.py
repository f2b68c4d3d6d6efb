"""How the size of a function's value depends on its arguments, by name, for ``value_sizes.py``.

The guard's dialects read a function as a name with arguments, so the same names serve all
databases; names that a database does not know are not on its allowlist. A function that is not
listed here is assumed to double the size of its arguments.
"""

from __future__ import annotations

import re

from sqlglot import exp

# Aggregates whose value contains all their input values.
GATHERING = frozenset(
    "array_agg group_concat histogram json_agg json_group_array json_group_object json_object_agg "
    "jsonb_agg jsonb_object_agg list listagg string_agg".split()
)
# Of these, those that concatenate texts without quoting them.
JOINING = frozenset({"group_concat", "listagg", "string_agg"})
# Return one row for each part of their argument.
SPREADING = frozenset(
    "generate_subscripts json_array_elements json_array_elements_text json_each json_each_text "
    "json_object_keys json_tree jsonb_array_elements jsonb_array_elements_text jsonb_each "
    "jsonb_each_text jsonb_object_keys regexp_split_to_table string_to_table unnest".split()
)
# Write one argument once for each part of another: a separator, a value for each of many fractions.
MULTIPLYING = frozenset(
    "approx_quantile array_replace array_to_string concat_ws percentile_cont percentile_disc "
    "quantile quantile_cont quantile_disc".split()
)
# Write their first argument up to ``MOST_FILLED`` times; ``growing_calls.py`` enforces this limit.
FILLING = frozenset({"array_fill"})
MOST_FILLED = 10_000
# Draw a text of at most so many bytes: DuckDB's bar has 1000 letters of three bytes.
DRAWING = frozenset({"bar"})
MOST_DRAWN = 3000.0
# Write their argument in lines, each indented by its depth of nesting.
INDENTING = frozenset({"jsonb_pretty"})
# Compare every part of their first argument with every part of their second. No database checks
# its time limit meanwhile.
COMPARING = frozenset(
    "array_has_all array_has_any array_intersect btrim contains glob instr json_contains "
    "json_patch like list_has_all list_has_any list_intersect ltrim position rtrim split "
    "split_part str_split string_split string_to_array string_to_table strpos translate "
    "trim".split()
)
# Arithmetic that is slow on numbers of thousands of digits.
DIVIDING = frozenset({"cbrt", "div", "exp", "ln", "log", "log10", "mod", "sqrt"})
POWERS = frozenset({"pow", "power"})
# The digits of the largest factorial that ``growing_calls.py`` allows.
FACTORIALS = frozenset({"factorial"})
MOST_FACTORIAL = 2600.0
# Build a number from a text or from parts, whose length does not bound the number's digits.
COMPOSING = frozenset({"concat", "concat_ws", "format", "overlay", "replace"})
# Return a number, a date or the like, however long their arguments are.
SMALL = frozenset(
    "array_length array_lower array_ndims array_position array_upper ascii bit_length cardinality "
    "char_length character_length count instr json_array_length json_typeof jsonb_array_length "
    "jsonb_typeof len length md5 num_nonnulls num_nulls octet_length ord regexp_count regexp_instr "
    "strlen strpos typeof unicode".split()
)
# Return one of their arguments, or a part of it.
KEEPING = frozenset(
    "abs any_value arbitrary arg_max arg_min argmax argmin array_distinct array_remove array_sort "
    "avg bit_and bit_or bit_xor bool_and bool_or btrim ceil ceiling coalesce corr covar_pop "
    "covar_samp cume_dist date date_part date_trunc datetrunc dense_rank every first first_value "
    "floor greatest if ifnull iif initcap lag last last_value lcase lead least left "
    "list_distinct list_sort lower ltrim max max_by mean median min min_by mod mode nth_value "
    "ntile nullif percent_rank rank reverse right round row_number rtrim sign split_part sqrt "
    "stddev stddev_pop stddev_samp substr substring sum total trim trunc ucase upper var_pop "
    "var_samp variance".split()
)

# A number with an exponent, also inside a text.
_EXPONENT = re.compile(r"\s*[+-]?[0-9._]+[eE][+-]?([0-9_]+)\s*")
# The most digits of PostgreSQL's numbers, before and after the decimal point.
MOST_DIGITS = 150_000.0
# A number in a format: a width, a precision or a position.
_NUMBER = re.compile(r"\d+")
# A conversion whose width is an argument.
_COMPUTED = re.compile(r"%[^A-Za-z%]*\*|\{[^}]*\{")
_MOST_DIGITS = 9
FORMATTING = frozenset({"format", "printf"})


def name_call(node: exp.Expr) -> str:
    """The lower-case name of a function without a node type of its own; empty for other nodes.

    >>> name_call(exp.Anonymous(this="UPPER"))
    'upper'
    """
    return node.name.lower() if isinstance(node, exp.Anonymous) else ""


def measure_literal(node: exp.Literal) -> float:
    """The bytes of a constant; for a number, its digits without an exponent.

    >>> measure_literal(exp.Literal.number("1e5000"))
    5000.0
    """
    if match := _EXPONENT.fullmatch(node.name):
        digits = match[1].replace("_", "")
        written = float(digits) if len(digits) <= _MOST_DIGITS else MOST_DIGITS
        return max(float(len(node.name)), min(written, MOST_DIGITS))
    return float(len(node.name))


def measure_format(node: exp.Expr) -> tuple[int, int] | None:
    """How often a call like ``format(text, …)`` may write an argument, and how many other bytes.

    None if the text is not a constant, or a width in it is not.
    """
    text = node.expressions[0] if node.expressions else None
    if text is None or not text.is_string:
        return None
    if _COMPUTED.search(text.name):
        return None
    numbers = _NUMBER.findall(text.name)
    if any(len(number) > _MOST_DIGITS for number in numbers):
        return None
    return text.name.count("%") + text.name.count("{"), len(text.name) + sum(map(int, numbers))
