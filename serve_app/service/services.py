"""The services of one process, as every interface is given them."""

from __future__ import annotations

from dataclasses import dataclass

from serve_app.service.feedback import FeedbackService
from serve_app.service.history import HistoryService
from serve_app.service.identity.identifier import Identifier
from serve_app.service.profile import ProfileService
from serve_app.service.query_service import QueryService
from serve_app.service.review import ReviewService
from serve_app.service.schema_service import SchemaService
from serve_app.service.tools import ToolService
from serve_app.service.trials import TrialService
from serve_app.service.usage import UsageMeter
from serve_app.settings import Settings


@dataclass(frozen=True, slots=True)
class PageServices:
    """Those that need the index, one for each group of routes."""

    schema: SchemaService
    profiles: ProfileService
    history: HistoryService
    review: ReviewService
    trials: TrialService


@dataclass(frozen=True, slots=True)
class Services:
    """The services of one process; what is None has no routes.

    Without ``identifier`` only static tokens are known, without ``meter`` requests are not limited.
    """

    settings: Settings
    queries: QueryService
    tools: ToolService
    feedback: FeedbackService | None = None
    page: PageServices | None = None
    identifier: Identifier | None = None
    meter: UsageMeter | None = None
