"""The forms in which a schema is written, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal

from nl2sql.schema_text.ddl import build_ddl
from nl2sql.schema_text.m_schema import build_m_schema
from nl2sql.schema_text.names_only import build_names_only
from nl2sql.schema_text.pieces import SchemaText
from nl2sql.schema_text.view import SchemaView
from nl2sql.types import SchemaContext

Form = Literal["ddl", "m_schema", "names"]

FORMS: Mapping[Form, Callable[[SchemaView], SchemaText]] = MappingProxyType(
    {"ddl": build_ddl, "m_schema": build_m_schema, "names": build_names_only}
)


def render_schema(
    context: SchemaContext,
    *,
    form: Form = "ddl",
    comments: bool = True,
    columns: tuple[tuple[str, tuple[str, ...]], ...] = (),
    database: str = "",
) -> str:
    """Renders the whole context, however long; ``columns`` as in ``Plan.columns``."""
    view = SchemaView(context, dict(columns), comments=comments, database=database)
    return FORMS[form](view).render()
