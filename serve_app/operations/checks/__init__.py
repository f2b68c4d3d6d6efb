"""The checks of ``quorumsql doctor``: each reports a status and, if needed, a remedy."""

from __future__ import annotations

from dataclasses import dataclass

_MOST_NAMES = 5


@dataclass(frozen=True, slots=True)
class Check:
    """The result of a check; ``status`` is ``ok``, ``warning`` or ``failed``.

    ``databases`` are those of which it is the result, none if it is about something else.
    """

    name: str
    status: str
    message: str
    remedy: str = ""
    databases: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What was checked, with the first databases.

        >>> Check("role", "ok", "", databases=("shop", "crm")).title
        'role of shop, crm'
        """
        if not self.databases:
            return self.name
        more = len(self.databases) - _MOST_NAMES
        names = ", ".join(self.databases[:_MOST_NAMES]) + f" and {more} more" * (more > 0)
        return f"{self.name} of {names}"
