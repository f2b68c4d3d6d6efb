"""What a principal may do on the page, apart from what policies say about data."""

from __future__ import annotations

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
    reviewers = set(settings.page.review_roles)
    return not settings.identity.needs_token or bool(reviewers.intersection(principal.roles))


def reads_policy(settings: Settings, principal: Principal) -> bool:
    """Whether the principal sees what a policy added to queries, with all that it hides.

    Also where requests need no token: whoever reaches such a service may still be restricted.
    """
    return bool(set(settings.page.operate_roles).intersection(principal.roles))
