"""Small collaborators for tests, each with a queue of answers and a history of what it was asked.

Nothing here patches anything: a fake is handed to a constructor in the place of the real stage. An
answer that is an exception is raised. A fake whose queue runs dry fails the test that asked it
once too often. ``build_*`` make the values of ``nl2sql.types`` with defaults that a test overrides
by name; ``SHOP`` is the schema that all of them speak about.
"""

from tests.fakes.builders import (
    build_assessment,
    build_candidate,
    build_context,
    build_diagnostic,
    build_generated,
    build_guarded,
    build_question,
    build_result,
    build_settings,
    build_violation,
)
from tests.fakes.databases import FakeCatalogs, FakeExecutor, FakeGuard, FakeVisibility
from tests.fakes.index import AUDIT_ENTRY, FakeEmbedder, FakeIndexStore, FakeIndexWriter
from tests.fakes.model import FakeEngine, StubEngine, count_fake_tokens
from tests.fakes.queue import Queue
from tests.fakes.reporter import FakeReporter
from tests.fakes.shop import (
    CUSTOMERS,
    EMPLOYEES,
    ORDER_LINES,
    ORDERS,
    PRODUCTS,
    RETURNS,
    SHOP,
    build_key,
    build_table,
)
from tests.fakes.stages import (
    SURE,
    FakeConversations,
    FakeGenerator,
    FakePlanner,
    FakeRanker,
    FakeRepairer,
    FakeRetriever,
    build_stages,
)

__all__ = [
    "AUDIT_ENTRY",
    "CUSTOMERS",
    "EMPLOYEES",
    "ORDERS",
    "ORDER_LINES",
    "PRODUCTS",
    "RETURNS",
    "SHOP",
    "SURE",
    "FakeCatalogs",
    "FakeConversations",
    "FakeEmbedder",
    "FakeEngine",
    "FakeExecutor",
    "FakeGenerator",
    "FakeGuard",
    "FakeIndexStore",
    "FakeIndexWriter",
    "FakePlanner",
    "FakeRanker",
    "FakeRepairer",
    "FakeReporter",
    "FakeRetriever",
    "FakeVisibility",
    "Queue",
    "StubEngine",
    "build_assessment",
    "build_candidate",
    "build_context",
    "build_diagnostic",
    "build_generated",
    "build_guarded",
    "build_key",
    "build_question",
    "build_result",
    "build_settings",
    "build_stages",
    "build_table",
    "build_violation",
    "count_fake_tokens",
]
