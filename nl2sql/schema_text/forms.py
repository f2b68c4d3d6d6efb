"""The forms in which a schema is written, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal

from nl2sql.schema_text.ddl import build_ddl
from nl2sql.schema_text.names_only import build_names_only
from nl2sql.schema_text.pieces import SchemaText
from nl2sql.schema_text.view import SchemaView
from nl2sql.types import SchemaContext

Form = Literal["ddl", "names"]

FORMS: Mapping[Form, Callable[[SchemaView], SchemaText]] = MappingProxyType(
    {"ddl": build_ddl, "names": build_names_only}
)


def render_schema(
    context: SchemaContext,
    *,
    form: Form = "ddl",
    comments: bool = True,
    columns: tuple[tuple[str, tuple[str, ...]], ...] = (),
) -> str:
    """Renders the whole context, however long; ``columns`` as in ``Plan.columns``."""
    view = SchemaView(context, dict(columns), comments=comments)
    return FORMS[form](view).render()
