"""Random statements for some seconds: nothing leaks, nothing is written, nothing breaks.

``python -m tests.oracle fuzz --minutes 60`` is the long version, as all principals.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from execution.postgres.embedded import EmbeddedServer
from nl2sql.types import GuardedQuery
from tests.oracle.demo import PRINCIPALS
from tests.oracle.fuzz import aim_at_all, throw_statements
from tests.oracle.postgres_fuzz import PostgresFuzzer, aim_mutations
from tests.oracle.shop import PRINCIPALS as SHOP_PRINCIPALS, fuzz_shop, open_shop_file
from tests.oracle.stage import PostgresStage
from tests.oracle.verdicts import Guarding

CHOSEN = [who for who in PRINCIPALS if who.name in ("support", "overseas", "public")]
SECONDS = 10


def test_random_statements_do_no_harm(
    embedded_server: EmbeddedServer, stage: PostgresStage
) -> None:
    with closing(PostgresFuzzer(embedded_server, stage, CHOSEN)) as fuzzer:
        report = fuzzer.run(aim_mutations(fuzzer, random.Random(7)), seconds=3 * SECONDS)
    assert not report.troubles, report.render()
    # Some come through and find rows, or this would show nothing.
    assert report.rows >= 10, report.render()


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_random_statements_do_no_harm_to_files(dialect: str, tmp_path: Path) -> None:
    report = fuzz_shop(dialect, tmp_path, random.Random(7), seconds=SECONDS)
    assert not report.troubles, report.render()
    assert report.rows >= 20, report.render()


# -- harm would be found ---------------------------------------------------------------------------


def let_pass(statement: str) -> GuardedQuery:
    return GuardedQuery("oracle_demo", statement, ())


def explode(statement: str) -> GuardedQuery:
    raise RecursionError(statement)


IN_MARKED = "current_database() LIKE '%marked'"


@pytest.mark.parametrize(
    ("guard", "statement", "trouble"),
    [
        (let_pass, "SELECT last_name FROM hr.employees", "mark in the result"),
        (let_pass, "SELECT last_name::int FROM hr.employees", "mark in the result"),
        (let_pass, "SELECT max(amt) FROM sales.orders", "mark in the result"),
        (let_pass, "SELECT count(*) FROM hr.payslips", "mismatch"),
        (
            let_pass,
            "WITH d AS (DELETE FROM hr.absences RETURNING 1) SELECT 1 FROM d",
            "hr.absences: ",
        ),
        (let_pass, "SELECT lo_create(77)", "objects: "),
        (explode, "SELECT 1", "RecursionError"),
        (
            let_pass,
            "SELECT pg_typeof.pg_typeof FROM unnest(ARRAY[1]) AS pg_typeof(x)",
            "permission denied for function pg_typeof",
        ),
        (let_pass, "SELECT pg_sleep(0)", "permission denied for function pg_sleep"),
        (let_pass, "SELECT pg_advisory_lock(7)", "holds 1 advisory locks"),
        (let_pass, "SELECT set_config('work_mem', '77kB', false)", "settings"),
        (
            let_pass,
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = "
            f"current_database() AND usename = 'quorumsql_reader' AND {IN_MARKED}",
            "ended another session",
        ),
        (
            let_pass,
            f"SELECT pg_terminate_backend(pg_backend_pid()) WHERE {IN_MARKED}",
            "ended a session",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_harm_would_be_found(
    bare: PostgresFuzzer, guard: Guarding, statement: str, trouble: str
) -> None:
    bare.targets[0].guard = guard
    report = bare.run(aim_at_all(bare.targets, iter([("made", statement)])), seconds=60)
    assert any(trouble in text for text in report.troubles), report.render()


@pytest.fixture(scope="module")
def bare(embedded_server: EmbeddedServer, stage: PostgresStage) -> Iterator[PostgresFuzzer]:
    """A fuzzer of one principal, whose guard a test replaces."""
    with closing(PostgresFuzzer(embedded_server, stage, CHOSEN[:1])) as fuzzer:
        yield fuzzer


@pytest.mark.parametrize(
    ("statement", "trouble"),
    [
        ("SELECT total FROM orders", "mismatch"),
        ("DELETE FROM orders", "bob_whole.sqlite: "),
    ],
)
def test_harm_to_a_file_would_be_found(statement: str, trouble: str, tmp_path: Path) -> None:
    with open_shop_file("sqlite", tmp_path) as shop:
        target = shop.build_target(SHOP_PRINCIPALS["sqlite"][0])
        target.guard = lambda text: GuardedQuery("shop", text, (), dialect="sqlite")
        aimed = aim_at_all([target], iter([("made", statement)]))
        report = throw_statements(aimed, seconds=60, describe=shop.describe)
    assert any(trouble in text for text in report.troubles), report.render()
