"""The context that all commands share: the settings file, found and read at its first use."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from serve_app.settings import Settings

FILE = Path("quorumsql.yaml")


@dataclass(frozen=True)
class CliContext:
    """``named`` is the file of ``--config``."""

    named: Path | None

    @cached_property
    def config(self) -> Path:
        """The named file, else ``quorumsql.yaml`` in this folder, else the demo's.

        Reports on stderr if it uses the demo's.
        """
        if self.named is not None:
            return self.named
        if FILE.exists():
            return FILE
        from data.demo_erp import SETTINGS
        from serve_app.cli.terminal import ERRORS

        text = f"No {FILE} here: the demo's settings, {SETTINGS}."
        ERRORS.print(text, markup=False, soft_wrap=True)
        return SETTINGS

    @cached_property
    def settings(self) -> Settings:
        """The settings in the file. Raises SettingsError."""
        from serve_app.settings import load_settings

        return load_settings(self.config)


def name_command() -> str:
    """The command with which this program was called, for messages.

    >>> name_command().endswith(" ")
    False
    """
    called = Path(sys.argv[0])
    if called.name != "quorumsql":
        return "quorumsql"
    found = shutil.which("quorumsql")
    if found is not None and Path(found).samefile(called):
        return "quorumsql"
    folder = Path.cwd()
    return str(called.relative_to(folder) if called.is_relative_to(folder) else called)


def split_list(text: str) -> list[str]:
    """What stands between commas.

    >>> split_list("bm25, values,")
    ['bm25', 'values']
    """
    return [part.strip() for part in text.split(",") if part.strip()]
