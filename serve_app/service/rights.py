"""What a principal may do on the page, apart from what policies say about data."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from nl2sql.settings import Settings
from nl2sql.types import Principal


@dataclass(frozen=True, slots=True)
class Rights:
    """``review``: may work through wrong answers. ``operate``: may see the service's status."""

    review: bool
    operate: bool


EVERYTHING = Rights(review=True, operate=True)


def find_rights(settings: Settings, principal: Principal) -> Rights:
    """The rights by the roles of ``page``; all of them where requests need no token.

    >>> settings = Settings.model_validate({
    ...     "databases": {"shop": {"reader": {"url": "sqlite:///shop.sqlite"}}},
    ...     "identity": {"api_keys": True},
    ...     "page": {"review_roles": ["analyst"]},
    ... })
    >>> find_rights(settings, Principal("ben", ("clerk", "analyst")))
    Rights(review=True, operate=False)
    """
    if not settings.identity.needs_token:
        return EVERYTHING
    page = settings.page
    return Rights(_has_any(principal, page.review_roles), _has_any(principal, page.operate_roles))


def reads_policy(settings: Settings, principal: Principal) -> bool:
    """Whether the principal sees what a policy added to queries, with all that it hides.

    Also where requests need no token: whoever reaches such a service may still be restricted.
    """
    return _has_any(principal, settings.page.operate_roles)


def _has_any(principal: Principal, roles: Collection[str]) -> bool:
    return any(role in roles for role in principal.roles)
