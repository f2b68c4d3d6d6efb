"""The demo's database with row-level security."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from execution.postgres.embedded import EmbeddedServer
from tests.execution.policies.row_security_database import (
    RowSecurityDatabase,
    open_row_security_database,
)


@pytest.fixture(scope="module")
def secured(embedded_server: EmbeddedServer) -> Iterator[RowSecurityDatabase]:
    with open_row_security_database(embedded_server) as database:
        yield database


@pytest.fixture
def applied(secured: RowSecurityDatabase) -> RowSecurityDatabase:
    """With the demo's policy applied; applying it again undoes what a test did to it."""
    secured.apply()
    return secured
