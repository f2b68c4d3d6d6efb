"""Schemathesis against the service over fakes, from the service's own OpenAPI document.

Takes minutes: it is installed into an environment of its own, with the version named here.
"""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import pytest

from nl2sql.types import GuardedQuery, Principal, Violation
from tests.fakes import FakeConversations, FakeGuard, build_result, build_violation
from tests.serve_app.served import OneQueryGenerator, build_app, serve

PACKAGE = "schemathesis==4.32.5"


class OneQuery(FakeGuard):
    """Lets ``SELECT 1`` pass alone: the fake of the database knows no other."""

    async def guard(
        self, database: str, sql: str, principal: Principal
    ) -> GuardedQuery | Violation:
        if sql != "SELECT 1":
            return build_violation("not_a_query")
        return await super().guard(database, sql, principal)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_schemathesis_finds_no_fault(tmp_path: Path) -> None:
    """No status, type or body that OpenAPI does not name, and no 5xx.

    Left out: checks against what the service rightly refuses (a database or model that fits the
    schema and does not exist).
    """
    venv.create(tmp_path / "venv", with_pip=True)
    scripts = tmp_path / "venv" / "bin"
    pip = (scripts / "python", "-m", "pip", "install", "--quiet", PACKAGE)
    subprocess.run(pip, check=True, stdout=sys.stderr)
    app = build_app(
        generator=OneQueryGenerator(),
        guard=OneQuery(),
        results={"SELECT 1": [build_result((1,))] * 100_000},
        sessions=FakeConversations(),
    )
    with serve(app) as url:
        command = (
            *(scripts / "schemathesis", "run", f"{url}/openapi.json", "--url", url),
            *("--max-examples", "40", "--seed", "1"),
            *("--exclude-checks", "positive_data_acceptance"),
        )
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
