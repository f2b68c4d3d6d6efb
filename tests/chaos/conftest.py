"""One service for all cases: a deployment for each stage, an echoing engine, two PostgreSQL."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from ray import serve

from execution.postgres.embedded import INDEX_DATABASE, INDEXER, READER
from serve_app.composition.wiring import Wiring
from serve_app.operations.background import service_url
from serve_app.operations.indexing import index_databases
from serve_app.ray.running import run_application, stop_service
from serve_app.ray.starting import start_serve
from serve_app.reporting import SilentReporter
from serve_app.settings import Settings, parse_settings
from tests.chaos.load import pick_answered
from tests.chaos.questions import ASKING, open_questions
from tests.chaos.servers import Server
from tests.chaos.service import TIMEOUT_S, Case, Service, render
from tests.demo import MODULES
from tests.oracle.demo import DATABASE
from tests.ports import choose_port
from tests.serve_app.echo_replica import EchoReplica
from tests.serve_app.interfaces import describe_principal, sign_in

_CASES = pytest.StashKey[list[Case]]()


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Prints the table of cases, as docs/measurements.md has it."""
    if cases := config.stash.get(_CASES, None):
        terminalreporter.write_line("| fault | replies | slowest, s | ready again after, s |")
        for case in cases:
            terminalreporter.write_line(render(case))


@pytest.fixture(scope="session")
def cases(pytestconfig: pytest.Config) -> list[Case]:
    """All cases so far."""
    return pytestconfig.stash.setdefault(_CASES, [])


@pytest.fixture(scope="package")
def home() -> Iterator[Path]:
    """A folder for all, in a short path for sockets."""
    folder = Path(tempfile.mkdtemp(prefix="qc-", dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="package")
def service(home: Path, cases: list[Case]) -> Iterator[Service]:
    """The service with its load's questions, each of which it answers right while all is well."""
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        data, index = Server(home / "data" / "postgres"), Server(home / "index" / "postgres")
        stack.callback(data.close)
        stack.callback(index.close)
        questions, policy = open_questions(data.server, home)
        patch.setenv("RAY_TMPDIR", str(home))
        described = {principal.name: describe_principal(principal) for principal in ASKING}
        settings = sign_in(build_settings(home, policy, data, index), described, patch)
        wiring = Wiring(settings)
        asyncio.run(index_databases(wiring, [DATABASE], SilentReporter()))
        engine = serve.deployment(
            EchoReplica,
            name="engine",
            ray_actor_options={"num_cpus": 0.1},
            max_ongoing_requests=64,
            health_check_period_s=1,
            health_check_timeout_s=10,
        )
        start_serve(settings)
        run_application(wiring, engine.bind())
        stack.callback(stop_service)
        url = service_url(settings)
        yield Service(
            questions=pick_answered(url, questions, TIMEOUT_S),
            cases=cases,
            url=url,
            data=data,
            index=index,
        )


def build_settings(home: Path, policy: Path, data: Server, index: Server) -> Settings:
    """The demo behind the relays, with short limits."""
    return parse_settings(
        {
            "home": str(home),
            "audit": {"enabled": True},
            "serve": {"port": choose_port(), "dashboard": False, "fuse_cpu_stages": False},
            "databases": {
                DATABASE: {
                    "reader": {"url": data.url(DATABASE, READER)},
                    "indexer": {"url": data.url(DATABASE, INDEXER)},
                    "schemas": list(MODULES),
                    "policy": str(policy),
                    "skip_values": ["*"],
                }
            },
            "index": {"connection": {"url": index.url(INDEX_DATABASE, INDEXER)}},
            "flags": {"intent_gate": False},
            "ranking": {"min_confidence": 0.0},
            "limits": {
                "pool_size": 4,
                "rows": 1000,
                "statement_timeout_ms": 5000,
                "request_timeout_ms": int(TIMEOUT_S * 1000),
            },
        }
    )
