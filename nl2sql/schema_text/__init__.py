"""Renders the schema for a prompt: in two forms, in name order, within the context window.

``view`` chooses what is shown, ``forms`` render it, ``writer`` decides what is left out.
"""

from __future__ import annotations

from nl2sql.schema_text.forms import Form, render_schema
from nl2sql.schema_text.writer import MESSAGE_MARKS, SchemaWriter, TokenCounts, WrittenSchema

__all__ = ["MESSAGE_MARKS", "Form", "SchemaWriter", "TokenCounts", "WrittenSchema", "render_schema"]
