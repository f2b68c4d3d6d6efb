"""Questions whose right rows are known: golds of the demo, each over a principal's own copy."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import yaml

from execution.postgres.embedded import EmbeddedServer
from nl2sql.types import Principal
from tests.oracle.demo import PRINCIPALS, open_demo
from tests.oracle.postgres_copies import quiet_server
from tests.oracle.stage import PostgresStage
from tests.serve_app.interfaces import Row, spell_cell

ASKING: tuple[Principal, ...] = tuple(
    principal for principal in PRINCIPALS if principal.name in ("logistics", "nordics", "analyst")
)
MOST_ROWS = 1000


@dataclass(frozen=True, slots=True)
class KnownQuestion:
    """The engine echoes ``sql``; ``rows`` is what the principal may see of its result."""

    principal: str
    sql: str
    rows: Counter[Row]


def open_questions(server: EmbeddedServer, home: Path) -> tuple[list[KnownQuestion], Path]:
    """The demo on the server, as each principal sees it; its policy is a file in ``home``."""
    with quiet_server(server):
        stage = open_demo(server)
        questions = list_questions(stage)
        policy = home / "policy.yaml"
        policy.write_text(yaml.safe_dump(dict(stage.subject.policy)), encoding="utf-8")
        stage.close()
    return questions, policy


def list_questions(stage: PostgresStage) -> list[KnownQuestion]:
    """The golds that each principal's copy of the database answers.

    A gold over tables that a principal does not see fails on the copy, and is left out.
    """
    found = []
    for principal in ASKING:
        copy = stage.copy(principal)
        for _, sql in stage.subject.golds:
            outcome = copy.run(sql)
            if outcome.sqlstate or not 0 < len(outcome.rows) <= MOST_ROWS:
                continue
            rows = Counter(tuple(map(spell_cell, row)) for row in outcome.rows)
            found.append(KnownQuestion(principal.name, sql, rows))
    return found
