"""Rules on text: one in each file, the function named like the file, applied in the tuple's order.

Each takes a query, which may not parse, and returns it, changed if the rule applies.
"""

from __future__ import annotations

from collections.abc import Callable

from repair.normalize.facts import Facts
from repair.normalize.text_rules.aliases import aliases
from repair.normalize.text_rules.backslash_quotes import backslash_quotes
from repair.normalize.text_rules.backticks import backticks
from repair.normalize.text_rules.bare_joins import bare_joins
from repair.normalize.text_rules.brackets import brackets
from repair.normalize.text_rules.clause_order import clause_order
from repair.normalize.text_rules.glued_keywords import glued_keywords
from repair.normalize.text_rules.limits import limits
from repair.normalize.text_rules.modulo import modulo
from repair.normalize.text_rules.national_strings import national_strings
from repair.normalize.text_rules.operators import operators
from repair.normalize.text_rules.ordered_operands import ordered_operands
from repair.normalize.text_rules.parentheses import parentheses
from repair.normalize.text_rules.regular_words import regular_words
from repair.normalize.text_rules.semicolons import semicolons
from repair.normalize.text_rules.separators import separators
from repair.normalize.text_rules.set_words import set_words
from repair.normalize.text_rules.stray_aliases import stray_aliases
from repair.normalize.text_rules.table_hints import table_hints
from repair.normalize.text_rules.top import top
from repair.normalize.text_rules.trailing_commas import trailing_commas
from repair.normalize.text_rules.type_names import type_names
from repair.normalize.text_rules.word_comparisons import word_comparisons

TextRule = Callable[[str, Facts], str]

RULES: tuple[TextRule, ...] = (
    backslash_quotes,
    backticks,
    top,
    brackets,
    national_strings,
    semicolons,
    table_hints,
    set_words,
    operators,
    word_comparisons,
    regular_words,
    modulo,
    trailing_commas,
    glued_keywords,
    limits,
    separators,
    type_names,
    aliases,
    stray_aliases,
    clause_order,
    parentheses,
    bare_joins,
    ordered_operands,
)
