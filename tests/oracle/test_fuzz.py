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
from tests.oracle.fuzz import aim_at_all
from tests.oracle.postgres_fuzz import PostgresFuzzer, aim_engine
from tests.oracle.shop import fuzz_shop
from tests.oracle.sqlsmith import PROGRAM, generate_statements, prepare_database
from tests.oracle.stage import PostgresStage
from tests.oracle.verdicts import Guarding

CHOSEN = {who.name: who for who in PRINCIPALS if who.name in ("support", "overseas", "public")}
PUBLIC = CHOSEN["public"]


@pytest.mark.parametrize(
    ("engine", "names", "seconds", "least_rows"),
    [
        ("corpus", ("support", "overseas", "public"), 20, 20),
        ("grammar", ("support", "public"), 10, 5),
        ("seeds", ("support", "public"), 10, 5),
    ],
)
def test_random_statements_do_no_harm(
    engine: str,
    names: tuple[str, ...],
    seconds: float,
    least_rows: int,
    embedded_server: EmbeddedServer,
    stage: PostgresStage,
) -> None:
    chosen = [CHOSEN[name] for name in names]
    with closing(PostgresFuzzer(embedded_server, stage, chosen)) as fuzzer:
        report = fuzzer.run(aim_engine(engine, fuzzer, chosen, random.Random(7)), seconds=seconds)
    assert not report.troubles, report.render()
    # Some come through and find rows, or this would show nothing.
    assert report.rows >= least_rows, report.render()


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_statements_of_the_grammar_do_no_harm_to_files(dialect: str, tmp_path: Path) -> None:
    report = fuzz_shop(dialect, tmp_path, random.Random(7), seconds=10)
    assert not report.troubles, report.render()
    assert report.rows >= 5, report.render()


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
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "
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
    with closing(PostgresFuzzer(embedded_server, stage, [CHOSEN["support"]])) as fuzzer:
        yield fuzzer


@pytest.mark.skipif(not PROGRAM, reason="sqlsmith is not installed (Debian package sqlsmith)")
def test_sqlsmith_writes_statements_over_the_tables_of_a_copy(
    embedded_server: EmbeddedServer, stage: PostgresStage
) -> None:
    prepare_database(embedded_server, stage.source, "oracle_smith", stage.list_grants(PUBLIC))
    texts, again = (
        generate_statements(embedded_server, "oracle_smith", seed=7, count=60) for _ in range(2)
    )
    embedded_server.drop_database("oracle_smith")
    assert texts == again
    assert len(texts) == 60
    assert any("hr.employees" in text for text in texts)
    assert not any("hr.payslips" in text for text in texts)


@pytest.fixture(scope="module", autouse=True)
def _drop_databases(embedded_server: EmbeddedServer) -> Iterator[None]:
    """Drops the databases that sqlsmith read."""
    yield
    for principal in PRINCIPALS:
        embedded_server.drop_database(f"oracle_demo_{principal.name}_smith")
