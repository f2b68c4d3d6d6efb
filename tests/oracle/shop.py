"""The shop of the tests as a file of SQLite or DuckDB: its policies, who asks, and fuzzing it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.execution.duckdb import shop as duckdb_shop
from tests.execution.sqlite import shop as sqlite_shop
from tests.golden import load_pairs
from tests.oracle.corpus import Query, list_queries
from tests.oracle.file_stage import FileStage
from tests.oracle.fuzz import FuzzReport, aim_at_all, throw_statements
from tests.oracle.grants import read_policy, read_principals
from tests.oracle.mutations import iterate_mutations
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

GENERATED = {
    "sqlite": {"main.order_lines.double_quantity": ["quantity"]},
    "duckdb": {"main.Orders.double_total": ["total"]},
}
"""What the shop's generated columns are computed from, by dialect."""


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
    subject = Subject("shop", catalog, policy, golds, generated=GENERATED[dialect])
    stage = FileStage(path, subject, folder)
    try:
        yield stage
    finally:
        stage.close()


# A column that is masked has to compare as it did: as what it was declared.
_AFFINITIES = [
    ("text_with_number", "SELECT id FROM orders WHERE placed_at > 2023"),
    ("number_with_text", "SELECT id FROM orders WHERE total > '7'"),
    ("text_is_number", "SELECT id, placed_at < 3000 AS x, total = '20' AS y FROM orders"),
]


def list_shop_queries(subject: Subject) -> list[Query]:
    """The corpus over the shop; on DuckDB, for which it has no templates, the golds."""
    if subject.catalog.dialect == "duckdb":
        return [Query(title, "gold", sql) for title, sql in subject.golds]
    return list_queries(subject.catalog, [*subject.golds, *_AFFINITIES])


def fuzz_shop(
    dialect: str,
    folder: Path,
    rng: random.Random,
    *,
    seconds: float,
    progress: Callable[[FuzzReport], None] = lambda report: None,
) -> FuzzReport:
    """Throws changed queries at the shop. Raises PolicyError, sqlite3.Error, duckdb.Error."""
    with open_shop_file(dialect, folder) as stage:
        targets = [stage.build_target(principal) for principal in PRINCIPALS[dialect]]
        queries = [query.sql for query in list_shop_queries(stage.subject)]
        aimed = aim_at_all(targets, iterate_mutations(queries, rng, dialect=dialect))
        return throw_statements(aimed, seconds=seconds, describe=stage.describe, progress=progress)
