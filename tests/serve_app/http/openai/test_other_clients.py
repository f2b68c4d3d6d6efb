"""Clients and test suites of others, unmodified, against the service over fakes.

Takes minutes: they are installed into an environment of their own, with the versions named here.
"""

from __future__ import annotations

import os
import subprocess
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

from nl2sql.types import GuardedQuery, Principal, Violation
from tests.fakes import FakeGuard, FakeSessions, build_result, build_violation
from tests.serve_app.served import OneQueryGenerator, build_app, serve

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]

PACKAGES = (
    "langchain-openai==1.7.3",
    "langchain-tests==1.1.9",
    "pytest-asyncio==1.5.0",
    "schemathesis==4.32.5",
)
# LangChain's own suite for chat models, without what is no part of a database's answers.
SUITE = """
import os
from langchain_openai import ChatOpenAI
from langchain_tests.integration_tests import ChatModelIntegrationTests


class TestService(ChatModelIntegrationTests):
    chat_model_class = ChatOpenAI
    has_tool_calling = False
    has_structured_output = False
    supports_json_mode = False
    supports_image_inputs = False

    @property
    def chat_model_params(self):
        url = os.environ["SERVICE"] + "/v1"
        return {"model": "quorumsql", "base_url": url, "api_key": "any", "max_retries": 0,
                "stream_usage": True}
"""


@pytest.fixture(scope="module")
def bin_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clients")
    venv.create(folder, with_pip=True)
    pip = (folder / "bin" / "python", "-m", "pip", "install", "--quiet", *PACKAGES)
    subprocess.run(pip, check=True)
    return folder / "bin"


class OneQuery(FakeGuard):
    """Lets ``SELECT 1`` pass alone: the fake of the database knows no other."""

    async def guard(
        self, database: str, sql: str, principal: Principal
    ) -> GuardedQuery | Violation:
        if sql != "SELECT 1":
            return build_violation("not_a_query")
        return await super().guard(database, sql, principal)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    app = build_app(
        generator=OneQueryGenerator(),
        guard=OneQuery(),
        results={"SELECT 1": [build_result((1,))] * 100_000},
        sessions=FakeSessions(),
    )
    with serve(app) as url:
        yield url


def run(*command: str | Path, cwd: Path, url: str) -> str:
    environment = {"SERVICE": url, "PATH": os.environ["PATH"], "HOME": str(cwd)}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    return done.stdout


def test_langchains_suite_for_chat_models(bin_folder: Path, url: str, tmp_path: Path) -> None:
    (tmp_path / "test_service.py").write_text(SUITE)
    shown = run(
        *(bin_folder / "python", "-m", "pytest", "-q", "test_service.py"),
        *("-o", "asyncio_mode=auto", "-o", "asyncio_default_test_loop_scope=session"),
        *("-o", "asyncio_default_fixture_loop_scope=session"),
        cwd=tmp_path,
        url=url,
    )
    assert "17 passed" in shown, shown


def test_schemathesis_finds_no_fault(bin_folder: Path, url: str, tmp_path: Path) -> None:
    """No status, type or body that OpenAPI does not name, and no 5xx.

    Left out: a stream without end, and checks against what the service rightly refuses (a
    database or model that fits the schema and does not exist).
    """
    run(
        *(bin_folder / "schemathesis", "run", f"{url}/openapi.json", "--url", url),
        *("--max-examples", "40", "--exclude-path-regex", "events$", "--seed", "1"),
        *("--exclude-checks", "positive_data_acceptance,unsupported_method"),
        cwd=tmp_path,
        url=url,
    )
