"""The resources: ``schema://DATABASE``, ``schema://DATABASE/TABLE`` and ``examples://DATABASE``."""

from __future__ import annotations

from urllib.parse import quote, unquote, urlsplit

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, Resource, ResourceTemplate

from nl2sql.sql.threads import run_in_results_thread
from nl2sql.types import Principal
from serve_app.mcp.documents import Document, build_examples, build_tables
from serve_app.service.accounting import Refusal
from serve_app.service.services import Services

JSON = "application/json"

TEMPLATES = [
    ResourceTemplate(
        name="schema",
        uri_template="schema://{database}",
        title="Tables of a database",
        description="Names and comments of the tables that you may see.",
        mime_type=JSON,
    ),
    ResourceTemplate(
        name="table",
        uri_template="schema://{database}/{table}",
        title="A table",
        description="Columns, types, comments and keys of a table.",
        mime_type=JSON,
    ),
    ResourceTemplate(
        name="examples",
        uri_template="examples://{database}",
        title="Examples",
        description="Verified questions with their SQL.",
        mime_type=JSON,
    ),
]


async def list_resources(services: Services, principal: Principal) -> list[Resource]:
    """The schema and the examples of each database that the principal may ask."""
    names = await services.queries.list_databases(principal)
    return [
        Resource(
            name=f"{kind}_{name}",
            uri=f"{kind}://{quote(name, safe='')}",
            title=f"{title} of {name}",
            mime_type=JSON,
        )
        for name in names
        for kind, title in (("schema", "Tables"), ("examples", "Examples"))
    ]


async def read_resource(services: Services, principal: Principal, uri: str) -> Document:
    """The document at ``uri``. Raises MCPError if there is none, and what the services raise."""
    parts = urlsplit(uri)
    database, table = unquote(parts.netloc), unquote(parts.path.removeprefix("/"))
    if database not in services.settings.database_names(principal) or parts.query or parts.fragment:
        raise _build_unknown(uri)
    if parts.scheme == "examples" and not table:
        return build_examples(await services.tools.list_examples(database, principal))
    if parts.scheme != "schema":
        raise _build_unknown(uri)
    names = [table] if table else []
    found = await services.tools.describe_tables(database, names, principal)
    if isinstance(found, Refusal) or (table and not found.tables):
        raise _build_unknown(uri)
    return await run_in_results_thread(build_tables, found, whole=bool(table))


def _build_unknown(uri: str) -> MCPError:
    return MCPError(INVALID_PARAMS, "There is no such resource that you may see.", {"uri": uri})
