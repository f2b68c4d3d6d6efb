"""``quorumsql settings``: lists every key of quorumsql.yaml, with its default and meaning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticUndefined
from rich import box
from rich.table import Table
from rich.text import Text

from nl2sql.settings import Settings
from nl2sql.settings.database import DatabaseSettings
from serve_app.cli.output import Output, prints
from serve_app.cli.terminal import CONSOLE


@prints
def show_settings() -> Output:
    """List every key of the settings file, with its default and meaning."""
    found = describe_settings()
    document = [
        {"key": key, "default": default, "meaning": meaning} for key, default, meaning in found
    ]
    return Output(document, lambda: CONSOLE.print(_build_table(found)))


def _build_table(found: Sequence[tuple[str, str, str]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    for column in ("key", "default", "meaning"):
        table.add_column(column, overflow="fold")
    for key, default, meaning in found:
        table.add_row(Text(key), Text(default), Text(meaning))
    return table


def describe_settings() -> list[tuple[str, str, str]]:
    """(dotted key, default, meaning) for every setting."""
    return _describe(Settings, "")


def _describe(section: type[BaseModel], prefix: str) -> list[tuple[str, str, str]]:
    rows: list[tuple[str, str, str]] = []
    for name, field in section.model_fields.items():
        annotation: Any = field.annotation
        if section is Settings and name == "databases":
            rows += _describe(DatabaseSettings, f"{prefix}databases.NAME.")
        elif isinstance(annotation, type) and issubclass(annotation, BaseModel):
            rows += _describe(annotation, f"{prefix}{name}.")
        else:
            required = field.default is PydanticUndefined and field.default_factory is None
            default = "required" if required else str(field.get_default(call_default_factory=True))
            rows.append((f"{prefix}{name}", default, field.description or ""))
    return rows
