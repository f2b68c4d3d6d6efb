"""The services behind the routes that the page uses besides those of questions."""

from __future__ import annotations

from dataclasses import dataclass

from serve_app.service.history import HistoryService
from serve_app.service.identity.sign_ins import SignIns
from serve_app.service.profile import ProfileService
from serve_app.service.review import ReviewService
from serve_app.service.schema_service import SchemaService
from serve_app.service.shares import ShareService
from serve_app.service.tools import ToolService


@dataclass(frozen=True, slots=True)
class PageServices:
    """One for each group of routes; ``tools`` runs queries.

    ``sign_ins`` is None where requests need no token.
    """

    schema: SchemaService
    tools: ToolService
    profiles: ProfileService
    sign_ins: SignIns | None
    history: HistoryService
    shares: ShareService
    review: ReviewService
