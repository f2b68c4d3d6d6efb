"""What a principal may use: databases, and amounts of work."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class UsageLimits:
    """The most that a principal may use; 0: no limit, None: the default of the settings."""

    requests_per_minute: int | None = None
    questions_at_once: int | None = None
    tokens_per_day: int | None = None
    rows_per_day: int | None = None

    def complete(self, defaults: UsageLimits) -> UsageLimits:
        """These limits, with those of ``defaults`` where they are None.

        >>> UsageLimits(tokens_per_day=0).complete(UsageLimits(5, 6, 7)).tokens_per_day
        0
        >>> UsageLimits(tokens_per_day=0).complete(UsageLimits(5, 6, 7)).requests_per_minute
        5
        """
        return UsageLimits(
            _choose(self.requests_per_minute, defaults.requests_per_minute),
            _choose(self.questions_at_once, defaults.questions_at_once),
            _choose(self.tokens_per_day, defaults.tokens_per_day),
            _choose(self.rows_per_day, defaults.rows_per_day),
        )


def _choose(limit: int | None, default: int | None) -> int | None:
    return default if limit is None else limit


@dataclass(frozen=True, slots=True)
class Access:
    """How a principal was identified, and what it may use.

    ``key`` is the id of its API key (empty: it has none). ``databases`` are those that it may ask
    (empty: all).
    """

    key: str = ""
    databases: tuple[str, ...] = ()
    limits: UsageLimits = UsageLimits()


UNRESTRICTED = Access()
