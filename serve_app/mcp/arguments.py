"""The arguments of the tools. Clients are sent them as JSON schemas."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

_DATABASE = "A name from list_databases; may be left out if there is a default database."
_QUESTION = "One complete question in plain language, in the words of the user."
_TABLES = "Tables that the query must read, with or without schema; leave out if not known."
_EVIDENCE = "Additional knowledge that the question needs, such as the definition of a term."


class NoArguments(BaseModel):
    """A tool without arguments."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class _OnDatabase(NoArguments):
    database: str = Field("", description=_DATABASE)


class AskArguments(_OnDatabase):
    """Arguments of ``ask``."""

    question: str = Field(description=_QUESTION)
    evidence: str = Field("", description=_EVIDENCE)
    tables: list[str] = Field([], max_length=20, description=_TABLES)
    max_rows: int | SkipJsonSchema[None] = Field(
        None, ge=1, description="Most rows to return; 50 by default."
    )
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


class TranslateArguments(_OnDatabase):
    """Arguments of ``translate``."""

    question: str = Field(description=_QUESTION)
    evidence: str = Field("", description=_EVIDENCE)
    tables: list[str] = Field([], max_length=20, description=_TABLES)


class RunSqlArguments(_OnDatabase):
    """Arguments of ``run_sql``."""

    sql: str = Field(description="One SELECT in the dialect of the database.")
    max_rows: int | SkipJsonSchema[None] = Field(
        None, ge=1, description="Most rows to return; 50 by default."
    )


class DescribeTablesArguments(_OnDatabase):
    """Arguments of ``describe_tables``."""

    tables: list[str] = Field(
        [], description="Names of tables, with or without schema. Without names, lists all tables."
    )


class SearchSchemaArguments(_OnDatabase):
    """Arguments of ``search_schema``."""

    text: str = Field(description="A question or keywords that the tables should match.")
