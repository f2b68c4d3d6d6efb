"""Damages right queries in the ways of small models.

Each function is one damage, in the order of ``DAMAGES``. It takes the query's tree, which it may
change, and returns the damaged query, or None if the damage does not apply. The random generator
chooses among several places, so a seed gives the same damage again. A damaged query may still run.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from sqlglot import exp

from repair.autocorrect.table_lookup import TableLookup
from tests.benchmarks.damages.clauses import (
    aggregate_in_where,
    alias_in_having,
    grouped_aggregate,
    missing_group,
    mysql_words,
    postgres_words,
    quoted_text,
    sqlite_words,
    tsql_words,
)
from tests.benchmarks.damages.joins import (
    lost_bridge,
    lost_join_aliased,
    lost_join_bare,
    lost_join_named,
    repeated_join,
    same_keys,
    shuffled_joins,
    swapped_keys,
)
from tests.benchmarks.damages.names import (
    bare_column,
    lost_alias,
    misspelled_column,
    plural_column,
    plural_table,
    quoted_upper,
    respelled_column,
    table_word_added,
    table_word_lost,
    word_added,
    wrong_alias,
    wrong_table,
)

Damage = Callable[[exp.Expr, TableLookup, Random], str | None]

DAMAGES: tuple[Damage, ...] = (
    wrong_table,
    lost_alias,
    wrong_alias,
    bare_column,
    plural_table,
    plural_column,
    respelled_column,
    table_word_added,
    table_word_lost,
    word_added,
    misspelled_column,
    quoted_upper,
    lost_join_bare,
    lost_join_named,
    lost_join_aliased,
    lost_bridge,
    swapped_keys,
    same_keys,
    shuffled_joins,
    repeated_join,
    missing_group,
    grouped_aggregate,
    aggregate_in_where,
    alias_in_having,
    quoted_text,
    mysql_words,
    tsql_words,
    sqlite_words,
    postgres_words,
)
