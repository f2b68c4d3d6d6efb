"""The rows of a principal's job are those of a job on a copy that holds only the principal's rows.

The copies are the oracle's, made by means that share nothing with the guard. Where rows differ, the
copy decides whether the query has one result at all: it is run over other orders of rows and other
plans.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import yaml

from data.demo_erp import MODULES
from execution.postgres.embedded import EmbeddedServer
from nl2sql.settings import Settings, parse_settings
from nl2sql.types import Principal
from serve_app.batch.questions import BatchQuestion
from serve_app.batch.results import Row
from serve_app.batch.running import Sizes, run_job
from serve_app.composition.wiring import Wiring
from serve_app.operations.indexing import index_databases
from serve_app.operations.preparation import build_wiring
from serve_app.reporting import Silence
from tests.oracle.conftest import stage
from tests.oracle.demo import DATABASE, PRINCIPALS
from tests.oracle.outcomes import describe_difference
from tests.oracle.postgres_copies import FORWARD
from tests.oracle.runs import list_queries
from tests.oracle.stage import HASH_KEY, PostgresStage
from tests.serve_app.batch.engines import build_echo
from tests.serve_app.batch.jobs import build_job, read_rows

__all__ = ["stage"]

_ROWS = 500
_MOST_ASKED = 900
# So many that few results are cut.
_MOST_ROWS = 20_000
_CHOSEN = (PRINCIPALS[1], PRINCIPALS[2], PRINCIPALS[8])
SIZES = Sizes(workers=(2, 2), questions_at_once=8, block_rows=32)

pytestmark = [pytest.mark.long, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def hash_key() -> Iterator[None]:
    """Workers see the environment as it is when Ray starts."""
    os.environ["ORACLE_HASH_KEY"] = HASH_KEY
    yield
    del os.environ["ORACLE_HASH_KEY"]


@pytest.mark.usefixtures("hash_key", "cluster")
def test_rows_are_those_of_the_principals_copy(
    embedded_server: EmbeddedServer, demo_settings: Settings, stage: PostgresStage, tmp_path: Path
) -> None:
    subject = stage.subjects[0]
    texts = [query.sql for query in list_queries(subject.catalog, subject.golds)]
    policy = tmp_path / "policy.yaml"
    policy.write_text(yaml.safe_dump(dict(subject.policy)), encoding="utf-8")
    asked = random.Random(3).sample(texts, _MOST_ASKED)
    questions = [
        BatchQuestion(f"{number:04}", text, principal=_CHOSEN[number % len(_CHOSEN)].name)
        for number, text in enumerate(asked)
    ]
    guarded = build_guarded(demo_settings, embedded_server, stage, policy)
    job = build_job(tmp_path / "guarded", *questions, database=DATABASE, max_rows=_MOST_ROWS)
    run_job(job, guarded, SIZES, build_engine=build_echo)
    answered = {row["id"]: row for row in read_rows(job) if row["outcome"] == "answered"}

    # The same queries, and those only, on the copies.
    copied = [
        BatchQuestion(name, row["sql"], database=row["principal"]) for name, row in answered.items()
    ]
    copies = build_copies(demo_settings, embedded_server, stage)
    copy_job = build_job(tmp_path / "copies", *copied, max_rows=_MOST_ROWS)
    run_job(copy_job, copies, SIZES, build_engine=build_echo)

    equal, unsettled, wrong = 0, 0, []
    for own in read_rows(copy_job):
        row = answered[own["id"]]
        if (own["sql"], own["rows_sha256"]) == (row["sql"], row["rows_sha256"]):
            equal += 1
        elif is_unsettled(stage, row):
            unsettled += 1
        else:
            wrong.append((row["principal"], row["sql"], own["outcome"], own["reason"]))
    print(f"{len(answered)} answered, {equal} equal, {unsettled} unsettled, {len(wrong)} differ")
    assert not wrong, wrong[:5]
    assert equal >= _ROWS
    assert unsettled <= 0.05 * len(answered)


def is_unsettled(stage: PostgresStage, row: Row) -> bool:
    """Whether the copy itself has several results, depending on where rows lie or the plan."""
    principal = next(who for who in _CHOSEN if who.name == row["principal"])
    copy = stage.copy(principal)
    first = copy.run(row["sql"])
    if row["truncated"] or first.timed_out:
        return True  # the page depends on where rows lie
    return any(describe_difference(first, other) for other in copy.run_otherwise(row["sql"]))


def build_guarded(
    settings: Settings, server: EmbeddedServer, stage: PostgresStage, policy: Path
) -> Wiring:
    """The whole database, with the policy; the local principal may ask as all others."""
    database = {
        "reader": {"url": f"embedded:{stage.full.database}"},
        "schemas": list(MODULES),
        "policy": str(policy),
    }
    return prepare(
        settings,
        server,
        {DATABASE: database},
        identity={"principals": {who.name: describe(who) for who in _CHOSEN}},
        batch={"act_for": {"local": ["*"]}},
    )


def build_copies(settings: Settings, server: EmbeddedServer, stage: PostgresStage) -> Wiring:
    """Each principal's copy as a database of that name, without a policy."""
    databases = {}
    for who in _CHOSEN:
        session = stage.copy(who).session(FORWARD)
        databases[who.name] = {
            "reader": {"url": f"embedded:{session.database}"},
            "schemas": list(MODULES),
        }
    return prepare(settings, server, databases)


def prepare(
    settings: Settings, server: EmbeddedServer, databases: Mapping[str, object], **sections: object
) -> Wiring:
    """The wiring of indexed databases."""
    parsed = parse_settings(
        {
            "home": str(settings.home),
            "ranking": {"min_confidence": 0.0},
            "databases": databases,
            "limits": {"statement_timeout_ms": 3000, "max_rows": _MOST_ROWS},
            "sampling": {"k": 1},
            # Which of several queries wins depends on the rows; each must be the model's own.
            "repair": {"derived": 0},
            **sections,
        }
    )
    wiring = build_wiring(parsed, server)
    asyncio.run(index_databases(wiring, list(databases), Silence()))
    return wiring


def describe(principal: Principal) -> dict[str, object]:
    """The principal as in the settings file."""
    return {"roles": list(principal.roles), "attributes": dict(principal.attributes)}
