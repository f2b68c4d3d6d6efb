"""The whole attack table, engine by engine."""

from __future__ import annotations

from tests.attacks import (
    duckdb_rows,
    duckdb_spellings,
    duckdb_statements,
    everywhere_masks,
    everywhere_names,
    everywhere_oracles,
    everywhere_scopes,
    postgres_bombs,
    postgres_calls,
    postgres_catalogs,
    postgres_errors,
    postgres_functions,
    postgres_rows,
    postgres_spellings,
    postgres_statements,
    shared_rows,
    shared_statements,
    sqlite_rows,
    sqlite_statements,
)
from tests.attacks.attack import Attack

ATTACKS: tuple[Attack, ...] = (
    *everywhere_scopes.ATTACKS,
    *everywhere_oracles.ATTACKS,
    *everywhere_masks.ATTACKS,
    *everywhere_names.ATTACKS,
    *shared_statements.ATTACKS,
    *shared_rows.ATTACKS,
    *postgres_statements.ATTACKS,
    *postgres_functions.ATTACKS,
    *postgres_calls.ATTACKS,
    *postgres_catalogs.ATTACKS,
    *postgres_rows.ATTACKS,
    *postgres_spellings.ATTACKS,
    *postgres_errors.ATTACKS,
    *postgres_bombs.ATTACKS,
    *sqlite_statements.ATTACKS,
    *sqlite_rows.ATTACKS,
    *duckdb_statements.ATTACKS,
    *duckdb_rows.ATTACKS,
    *duckdb_spellings.ATTACKS,
)
