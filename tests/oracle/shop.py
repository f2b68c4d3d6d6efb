"""The shop of the tests as a file of SQLite or DuckDB: its policies, who asks, and fuzzing it.

The grammar's statements are drawn for all of the shop's tables; what a principal may not see is
refused, or leaks.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from nl2sql.types import Principal
from tests.execution.duckdb import shop as duckdb_shop
from tests.execution.sqlite import shop as sqlite_shop
from tests.golden import load_pairs
from tests.oracle.file_stage import FileStage
from tests.oracle.fuzz import FuzzReport, aim_grammar, throw_statements
from tests.oracle.grants import read_policy
from tests.oracle.stage import Subject

BUILD = {"sqlite": sqlite_shop.build_shop, "duckdb": duckdb_shop.build_shop}
"""What writes the shop to a path, by dialect; gives its catalog."""
_POLICIES = {"sqlite": "shop_policy.yaml", "duckdb": "shop_duckdb_policy.yaml"}
_BUYERS = (
    Principal("bob", ("buyer",), (("customer", 2),)),
    Principal("nobody", ("buyer",), (("customer", 77),)),
)
PRINCIPALS = {
    "sqlite": (
        *_BUYERS,
        Principal("clerk", ("clerk",), (("statuses", ("open", "paid")),)),
        Principal("both", ("buyer", "clerk"), (("customer", 2), ("statuses", ("paid",)))),
    ),
    "duckdb": (
        Principal("sam", ("seller",), (("countries", ("France", "DE")), ("boss", 1))),
        *_BUYERS,
    ),
}


@contextmanager
def open_shop_file(dialect: str, folder: Path) -> Iterator[FileStage]:
    """The stage over the shop, whose files go to ``folder``.

    Its golds are the guard's harmless queries, such as analysts write. Raises sqlite3.Error,
    duckdb.Error.
    """
    path = folder / f"shop.{dialect}"
    catalog = BUILD[dialect](path)
    policy = read_policy(Path(__file__).with_name(_POLICIES[dialect]))
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
