"""What a principal may do on the page, apart from what policies say about data."""

from __future__ import annotations

from collections.abc import Collection

from nl2sql.types import Principal
from serve_app.settings import Settings


def may_review(settings: Settings, principal: Principal) -> bool:
    """Whether the principal may work through wrong answers: by its roles, or no token is needed.

    >>> settings = Settings.model_validate({
    ...     "databases": {"shop": {"reader": {"url": "sqlite:///shop.sqlite"}}},
    ...     "identity": {"api_keys": True},
    ...     "page": {"review_roles": ["analyst"]},
    ... })
    >>> may_review(settings, Principal("ben", ("clerk", "analyst")))
    True
    >>> may_review(settings, Principal("mia", ("Analyst",)))
    False
    """
    return not settings.identity.needs_token or _has_any(principal, settings.page.review_roles)


def reads_policy(settings: Settings, principal: Principal) -> bool:
    """Whether the principal sees what a policy added to queries, with all that it hides.

    Also where requests need no token: whoever reaches such a service may still be restricted.
    """
    return _has_any(principal, settings.page.operate_roles)


def _has_any(principal: Principal, roles: Collection[str]) -> bool:
    return any(role in roles for role in principal.roles)
