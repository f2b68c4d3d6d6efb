"""What is told of the embedded server while it is prepared."""

from __future__ import annotations

from execution.postgres.embedded import EmbeddedServer
from serve_app.operations.preparation import load_demo_databases, start_embedded_server
from serve_app.settings import Settings
from tests.fakes import FakeReporter


def test_the_first_start_is_told_and_no_later_one(
    demo_settings: Settings, embedded_server: EmbeddedServer, first_start: FakeReporter
) -> None:
    set_up, loaded = first_start.heard
    assert set_up == "Embedded PostgreSQL: set up"
    assert loaded.startswith("Demo data into demo_erp: ")
    assert loaded.endswith(" tables")
    later = FakeReporter()
    start_embedded_server(demo_settings, later)
    assert later.heard == []
    load_demo_databases(demo_settings, embedded_server, later)
    assert later.heard == [f"Demo data into {name}: present" for name in demo_settings.databases]
