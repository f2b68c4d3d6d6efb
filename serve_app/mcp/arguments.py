"""The arguments of the tools. Clients are sent them as JSON schemas.

Some clients refuse a schema that has more than plain types with descriptions, and send null for
what they leave out, numbers as text and lists as JSON.
"""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

# How many rows are returned if a call does not say.
ROWS = 50
_DATABASE = "A name from list_databases; may be left out if there is a default database."


def _keep_plain(schema: dict[str, Any]) -> None:
    for name in ("title", "description", "additionalProperties"):
        schema.pop(name, None)
    for argument in schema["properties"].values():
        del argument["title"]


def _read_list(value: Any) -> Any:
    """The list that a text holds as JSON; a text that holds none is its only entry.

    >>> _read_list('["orders"]'), _read_list("orders"), _read_list(["orders"]), _read_list("")
    (['orders'], ['orders'], ['orders'], [])
    """
    if not isinstance(value, str):
        return value
    if not value:
        return []
    try:
        found = json.loads(value)
    except ValueError:
        found = None
    return found if isinstance(found, list) else [value]


_Names = Annotated[list[str], BeforeValidator(_read_list)]


class NoArguments(BaseModel):
    """A tool without arguments."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra=_keep_plain)

    @model_validator(mode="before")
    @classmethod
    def _leave_out_nulls(cls, arguments: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in arguments.items() if value is not None}


class _OnDatabase(NoArguments):
    database: str = Field("", description=_DATABASE)


class TranslateArguments(_OnDatabase):
    """Arguments of ``translate``."""

    question: str = Field(
        description="One complete question in plain language, in the words of the user."
    )
    evidence: str = Field(
        "",
        description="Additional knowledge that the question needs, such as the definition of a "
        "term.",
    )


class AskArguments(TranslateArguments):
    """Arguments of ``ask``."""

    max_rows: int = Field(ROWS, ge=1, description="Most rows to return.")
    chosen_sql: str = Field(
        "",
        description="The `sql` of the interpretation that was chosen, after an answer with the "
        "outcome `clarify`. Send it with the same question.",
    )
    session: str = Field(
        "",
        description="The id of the conversation that the question continues: 1 to 64 letters, "
        "digits, dots, dashes or underscores; `new` starts one.",
    )


class RunSqlArguments(_OnDatabase):
    """Arguments of ``run_sql``."""

    sql: str = Field(description="One SELECT in the dialect of the database.")
    max_rows: int = Field(ROWS, ge=1, description="Most rows to return.")


class DescribeTablesArguments(_OnDatabase):
    """Arguments of ``describe_tables``."""

    tables: _Names = Field(
        [], description="Names of tables, with or without schema. Without names, lists all tables."
    )


class SearchSchemaArguments(_OnDatabase):
    """Arguments of ``search_schema``."""

    text: str = Field(description="A question or keywords that the tables should match.")
