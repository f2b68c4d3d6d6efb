"""The schemas of the demo, one for each of its modules."""

from __future__ import annotations

MODULES = (
    "hr",
    "finance",
    "inventory",
    "crm",
    "sales",
    "procurement",
    "manufacturing",
    "projects",
    "assets",
    "support",
)
