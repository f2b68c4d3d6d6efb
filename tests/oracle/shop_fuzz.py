"""Fuzzing on SQLite and DuckDB: the shop of the tests as a file, its principals, and the grammar.

The grammar's statements are drawn for all of the shop's tables; what a principal may not see is
refused, or leaks.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from nl2sql.types import Principal
from tests.execution.duckdb import shop as duckdb_shop
from tests.execution.sqlite.shop import build_shop
from tests.oracle.duckdb_stage import DuckDbStage
from tests.oracle.engines import aim_statements, build_grammars
from tests.oracle.fuzz import FuzzReport, Target, throw_aimed
from tests.oracle.grammar.dialect import load_dialect
from tests.oracle.grants import read_policy
from tests.oracle.sqlite_stage import SqliteStage
from tests.oracle.stage import Subject

_FOLDER = Path(__file__).parent
SQLITE_PRINCIPALS = (
    Principal("bob", ("buyer",), (("customer", 2),)),
    Principal("nobody", ("buyer",), (("customer", 77),)),
    Principal("clerk", ("clerk",), (("statuses", ("open", "paid")),)),
    Principal("both", ("buyer", "clerk"), (("customer", 2), ("statuses", ("paid",)))),
)
DUCKDB_PRINCIPALS = (
    Principal("sam", ("seller",), (("countries", ("France", "DE")), ("boss", 1))),
    Principal("bob", ("buyer",), (("customer", 2),)),
    Principal("nobody", ("buyer",), (("customer", 77),)),
)


def fuzz_sqlite(
    folder: Path,
    rng: random.Random,
    *,
    seconds: float,
    progress: Callable[[FuzzReport], None] = lambda report: None,
) -> FuzzReport:
    """Throws the grammar's statements at the shop on SQLite, whose files go to ``folder``.

    Raises PolicyError, sqlite3.Error.
    """
    path = folder / "shop.sqlite"
    catalog = build_shop(path)
    policy = read_policy(_FOLDER / "shop_policy.yaml")
    stage = SqliteStage(path, Subject("shop", catalog, policy, ()), folder)
    try:
        targets = [stage.build_target(principal) for principal in SQLITE_PRINCIPALS]
        return _fuzz(stage, targets, rng, seconds, progress)
    finally:
        stage.close()


def fuzz_duckdb(
    folder: Path,
    rng: random.Random,
    *,
    seconds: float,
    progress: Callable[[FuzzReport], None] = lambda report: None,
) -> FuzzReport:
    """The same on DuckDB. Raises PolicyError, duckdb.Error."""
    path = folder / "shop.duckdb"
    catalog = duckdb_shop.build_shop(path)
    policy = read_policy(_FOLDER / "shop_duckdb_policy.yaml")
    stage = DuckDbStage(path, Subject("shop", catalog, policy, ()), folder)
    try:
        targets = [stage.build_target(principal) for principal in DUCKDB_PRINCIPALS]
        return _fuzz(stage, targets, rng, seconds, progress)
    finally:
        stage.close()


def _fuzz(
    stage: SqliteStage | DuckDbStage,
    targets: list[Target],
    rng: random.Random,
    seconds: float,
    progress: Callable[[FuzzReport], None],
) -> FuzzReport:
    tables = {table.qualified for table in stage.subject.catalog.tables}
    dialect = load_dialect(stage.subject.catalog.dialect)
    streams = build_grammars(dialect, stage.subject.catalog, targets, lambda _: tables, rng)
    return throw_aimed(
        aim_statements(streams, rng),
        seconds=seconds,
        describe=stage.describe,
        progress=progress,
    )
