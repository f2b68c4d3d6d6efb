"""Renders the schema for a prompt: as DDL, in name order, within the context window.

``view`` chooses what is shown, ``ddl`` renders it, ``writer`` decides what is left out.
"""

from __future__ import annotations

from nl2sql.schema_text.ddl import render_schema as render_schema
from nl2sql.schema_text.writer import (
    MESSAGE_MARKS as MESSAGE_MARKS,
    SchemaWriter as SchemaWriter,
    WrittenSchema as WrittenSchema,
)
