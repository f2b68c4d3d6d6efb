"""What every command shares: the settings file, read when it is first needed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nl2sql.settings import Settings


@dataclass(frozen=True)
class CliContext:
    """``settings`` raises SettingsError."""

    config: Path

    @cached_property
    def settings(self) -> Settings:
        """The settings in the file."""
        from nl2sql.settings import load_settings

        return load_settings(self.config)
