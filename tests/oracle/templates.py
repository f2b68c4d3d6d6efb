"""SQL templates kept in files: blocks headed by ``-- name:``, with slots in braces."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

_FOLDER = Path(__file__).parent / "templates"
_HEAD = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)
_SLOT = re.compile(r"\{\w+\}")


def load_templates(*files: str) -> dict[str, str]:
    """Name → template of all the files named, without their ending. Raises OSError."""
    templates: dict[str, str] = {}
    for file in files:
        _, *parts = _HEAD.split((_FOLDER / f"{file}.sql").read_text(encoding="utf-8"))
        templates |= {
            name: text.strip() for name, text in zip(parts[::2], parts[1::2], strict=True)
        }
    return templates


def fill_template(template: str, fills: Mapping[str, str]) -> str:
    """The template with every slot filled; empty when one has no fill, or an empty one.

    >>> fill_template("SELECT {k} FROM {t}", {"k": "id", "t": "orders"})
    'SELECT id FROM orders'
    >>> fill_template("SELECT {k} FROM {t}", {"k": "", "t": "orders"})
    ''
    """
    slots = {slot: fills.get(slot[1:-1], "") for slot in _SLOT.findall(template)}
    if not all(slots.values()):
        return ""
    return _SLOT.sub(lambda match: slots[match[0]], template)
