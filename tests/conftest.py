"""What several test folders share: one embedded PostgreSQL with the demo ERP, indexed.

And which tests are long. ``make test`` leaves them to ``make test-all``: of each the claim is made
by quicker tests as well, on fewer inputs.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from xdist.scheduler import LoadScopeScheduling

from execution.postgres.embedded import EmbeddedServer
from serve_app.composition.wiring import Wiring
from serve_app.operations.indexing import index_databases
from serve_app.operations.preparation import (
    build_wiring,
    demo_version,
    load_demo_databases,
    start_embedded_server,
)
from serve_app.reporting import SilentReporter
from serve_app.settings import Settings, parse_settings
from tests.demo import MODULES
from tests.fakes import FakeReporter
from tests.oracle.postgres_copies import PRISTINE, copy_database, note_version, quieten
from tests.ports import choose_port

ROOT = Path(__file__).parent.parent

# Folders and files whose tests are marked ``long``, but for those that are marked ``quick``. One
# test that is long among quick ones bears the mark itself.
LONG = (
    "tests/oracle",
    "tests/attacks/injections",
    "tests/repair/normalize/test_execution.py",
    "tests/serve_app/page",
)

# What `make test-chaos` runs: services and clusters of several nodes under load, and their faults.
# The shortest of them are marked ``long`` too, so that CI runs them.
FAULTS = ("tests/chaos",)

# What starts Ray or loads the model: one process of pytest runs these files, one after another.
ONE_AT_A_TIME = (
    "tests/chaos/test_databases.py",
    "tests/chaos/test_replicas.py",
    "tests/generation/engines/test_openvino_engine.py",
    "tests/serve_app/batch/test_running.py",
    "tests/serve_app/batch/test_storage.py",
    "tests/serve_app/test_end_to_end.py",
    "tests/serve_app/ray/test_upgrade.py",
    "tests/serve_app/ray/test_serve_real.py",
    "tests/serve_app/ray/test_serve_stages.py",
    "tests/serve_app/ray/test_starting.py",
    "tests/serve_app/test_wheel.py",
)


class _Files(LoadScopeScheduling):
    """Each process takes whole files, so that their fixtures are built once.

    (pytest-xdist's own groups, ``--dist loadgroup``, are not heeded under pytest 9.2.)
    """

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return "one at a time" if file in ONE_AT_A_TIME else file


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> _Files:
    return _Files(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what ``LONG`` and ``FAULTS`` name, before the marks choose what is run.

    What is one at a time takes longest, so it begins first.
    """
    long, faults = ({ROOT / path for path in paths} for paths in (LONG, FAULTS))
    for item in items:
        parts = {item.path, *item.path.parents}
        if parts & long and not item.get_closest_marker("quick"):
            item.add_marker("long")
        if parts & faults:
            item.add_marker("faults")
    alone = [ROOT / path for path in ONE_AT_A_TIME]
    items.sort(key=lambda item: item.path not in alone)


@pytest.fixture(scope="session")
def demo_settings() -> Iterator[Settings]:
    """The demo database under two names, in a home of their own.

    The home lies in a short path: a UNIX socket's path has at most 107 characters.
    """
    home = Path(tempfile.mkdtemp(prefix="quorumsql-"))
    embedded = {"url": "embedded"}
    database = {"demo": True, "reader": embedded, "indexer": embedded}
    yield parse_settings(
        {
            "home": str(home),
            "default_database": "demo_erp",
            "databases": {
                "demo_erp": {**database, "schemas": list(MODULES)},
                "second": {**database, "schemas": ["hr", "sales"]},
            },
            "limits": {"statement_timeout_ms": 3000},
            # The small one, on whatever machine.
            "model": {"name": "qwen2.5-coder-0.5b-instruct"},
            # Scripted queries are answers, whatever few samples say of them.
            "ranking": {"min_confidence": 0.0},
            # Tests ask many questions at a time, on machines with other work.
            "serve": {"port": choose_port(), "dashboard": False, "max_slowdown": 1000},
        }
    )
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="session")
def first_start() -> FakeReporter:
    """Hears how ``embedded_server`` is set up."""
    return FakeReporter()


@pytest.fixture(scope="session")
def embedded_server(demo_settings: Settings, first_start: FakeReporter) -> Iterator[EmbeddedServer]:
    """The running embedded server, with both databases loaded, and ``PRISTINE``."""
    server = start_embedded_server(demo_settings, first_start)
    assert server is not None
    # Nor does it sync when it stops: its folder is deleted.
    quieten(server)
    first, *others = demo_settings.databases
    alone = {first: demo_settings.databases[first]}
    load_demo_databases(demo_settings.model_copy(update={"databases": alone}), server, first_start)
    for name in (*others, PRISTINE):
        # Rows are generated and checked once; a copy is the same.
        copy_database(server, first, name)
        note_version(server, name, demo_version())
    yield server
    server.stop()


@pytest.fixture(scope="session")
def wiring(demo_settings: Settings, embedded_server: EmbeddedServer) -> Wiring:
    """The wiring over the embedded server, with both databases indexed."""
    built = build_wiring(demo_settings, embedded_server)
    asyncio.run(index_databases(built, list(demo_settings.databases), SilentReporter()))
    return built
