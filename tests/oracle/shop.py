"""The shop of the tests as a file of SQLite or DuckDB: its policies, who asks, and fuzzing it.

The grammar's statements are drawn for all of the shop's tables; what a principal may not see is
refused, or leaks.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.execution.duckdb import shop as duckdb_shop
from tests.execution.sqlite import shop as sqlite_shop
from tests.golden import load_pairs
from tests.oracle.file_stage import FileStage
from tests.oracle.fuzz import FuzzReport, aim_grammar, throw_statements
from tests.oracle.grants import read_policy, read_principals
from tests.oracle.stage import Subject

BUILD = {"sqlite": sqlite_shop.build_shop, "duckdb": duckdb_shop.build_shop}
"""What writes the shop to a path, by dialect; gives its catalog."""
_POLICIES = {
    "sqlite": Path(__file__).with_name("shop_policy.yaml"),
    "duckdb": Path(__file__).with_name("shop_duckdb_policy.yaml"),
}
_DESCRIBED = {dialect: read_policy(path) for dialect, path in _POLICIES.items()}
# Who asks stands beside each policy, and is no part of it.
PRINCIPALS = {
    dialect: read_principals(described.pop("principals"))
    for dialect, described in _DESCRIBED.items()
}


@contextmanager
def open_shop_file(dialect: str, folder: Path) -> Iterator[FileStage]:
    """The stage over the shop, whose files go to ``folder``.

    Its golds are the guard's harmless queries, such as analysts write. Raises sqlite3.Error,
    duckdb.Error.
    """
    path = folder / f"shop.{dialect}"
    catalog = BUILD[dialect](path)
    policy = _DESCRIBED[dialect]
    golds = [(pair.title, pair.before) for pair in load_pairs(f"guard_{dialect}")]
    stage = FileStage(path, Subject("shop", catalog, policy, golds), folder)
    try:
        yield stage
    finally:
        stage.close()


def fuzz_shop(
    dialect: str,
    folder: Path,
    rng: random.Random,
    *,
    seconds: float,
    progress: Callable[[FuzzReport], None] = lambda report: None,
) -> FuzzReport:
    """Throws the grammar's statements at the shop.

    Raises PolicyError, sqlite3.Error, duckdb.Error.
    """
    with open_shop_file(dialect, folder) as stage:
        catalog = stage.subject.catalog
        targets = [stage.build_target(principal) for principal in PRINCIPALS[dialect]]
        tables = {table.qualified for table in catalog.tables}
        aimed = aim_grammar(catalog, targets, lambda _: tables, rng)
        return throw_statements(aimed, seconds=seconds, describe=stage.describe, progress=progress)
