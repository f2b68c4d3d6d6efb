"""One column's values, as they are stored and as they are matched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ValueColumn:
    """One column's values. ``aliases`` gives words that mean a value → that value as stored."""

    table: str
    column: str
    values: tuple[str, ...]
    aliases: Mapping[str, str] = field(default_factory=dict)

    @property
    def qualified(self) -> str:
        """``schema.table.column``."""
        return f"{self.table}.{self.column}"
