"""Random statements for some seconds: nothing leaks, nothing is written, nothing breaks.

``python -m tests.oracle fuzz --minutes 60`` is the long version, as all principals.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from execution.postgres.embedded import EmbeddedServer
from nl2sql.types import GuardedQuery
from tests.oracle.demo import PRINCIPALS
from tests.oracle.postgres_fuzz import PostgresFuzzer, build_statements
from tests.oracle.sqlsmith import PROGRAM, generate_statements, prepare_database
from tests.oracle.stage import PostgresStage
from tests.oracle.verdicts import Guarding

SECONDS = 20
CHOSEN = [each for each in PRINCIPALS if each.name in ("support", "overseas", "public")]


def test_random_statements_do_no_harm(
    embedded_server: EmbeddedServer, stage: PostgresStage
) -> None:
    statements = build_statements(embedded_server, stage, CHOSEN, random.Random(7))
    fuzzer = PostgresFuzzer(embedded_server, stage, CHOSEN)
    report = fuzzer.run(statements, seconds=SECONDS)
    fuzzer.close()
    assert not report.troubles, report.render()
    # Some come through and find rows, or this would show nothing.
    assert report.rows >= 20, report.render()


def let_pass(statement: str) -> GuardedQuery:
    return GuardedQuery("oracle_demo", statement, ())


def explode(statement: str) -> GuardedQuery:
    raise RecursionError(statement)


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
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_harm_would_be_found(
    bare: PostgresFuzzer, guard: Guarding, statement: str, trouble: str
) -> None:
    bare.targets[0].guard = guard
    report = bare.run(iter([("made", statement)]), seconds=60)
    assert any(trouble in text for text in report.troubles), report.render()


@pytest.fixture(scope="module")
def bare(embedded_server: EmbeddedServer, stage: PostgresStage) -> Iterator[PostgresFuzzer]:
    """A fuzzer of one principal, whose guard a test replaces."""
    fuzzer = PostgresFuzzer(embedded_server, stage, CHOSEN[:1])
    yield fuzzer
    fuzzer.close()


@pytest.mark.skipif(not PROGRAM, reason="sqlsmith is not installed (Debian package sqlsmith)")
def test_sqlsmith_writes_statements_over_the_tables_of_a_copy(
    embedded_server: EmbeddedServer, stage: PostgresStage
) -> None:
    public = CHOSEN[-1]
    prepare_database(embedded_server, stage.source, "oracle_smith", stage.list_grants(public))
    texts = generate_statements(embedded_server, "oracle_smith", seed=7, count=60)
    again = generate_statements(embedded_server, "oracle_smith", seed=7, count=60)
    embedded_server.drop_database("oracle_smith")
    assert texts == again
    assert len(texts) == 60
    assert any("hr.employees" in text for text in texts)
    assert not any("hr.payslips" in text for text in texts)


@pytest.fixture(scope="module", autouse=True)
def _drop_databases(embedded_server: EmbeddedServer) -> Iterator[None]:
    """What the statements' sources looked at."""
    yield
    for principal in PRINCIPALS:
        embedded_server.drop_database(f"oracle_demo_{principal.name}_smith")
