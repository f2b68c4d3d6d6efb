"""The stage that the oracle's tests share: the demo ERP with views, on the session's server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from execution.postgres.embedded import EmbeddedServer
from tests.oracle.demo import open_demo
from tests.oracle.stage import PostgresStage


@pytest.fixture(scope="session")
def stage(embedded_server: EmbeddedServer) -> Iterator[PostgresStage]:
    """The demo ERP; its copies are made when a principal's first query comes."""
    built = open_demo(embedded_server)
    yield built
    built.close()
