"""The values of one column, as the index stores and search matches them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ValueColumn:
    """One column's values. ``aliases`` maps words that mean a value to that value."""

    table: str
    column: str
    values: tuple[str, ...]
    aliases: Mapping[str, str] = field(default_factory=dict)

    @property
    def qualified(self) -> str:
        """``schema.table.column``."""
        return f"{self.table}.{self.column}"
