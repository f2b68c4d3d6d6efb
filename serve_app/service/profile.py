"""``GET /me``: who asks, what of their limits is left, and what a policy hides from them.

Knows nothing of FastAPI. Names only tables of which the principal may see something.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from nl2sql.concurrency import gather_all
from nl2sql.types import Principal
from quorumsql.contract.identity import HiddenResponse, PrincipalResponse, RightsResponse
from retrieval.schema_directory import SchemaDirectory, TableDescriptions
from serve_app.service.query_service import QueryService
from serve_app.service.rights import may_review
from serve_app.service.usage import UsageMeter
from serve_app.settings import Settings

_MOST_TABLES = 200

Identified = Literal["none", "token", "cookie"]


@dataclass(frozen=True, slots=True)
class ProfileService:
    """Describes principals to themselves."""

    settings: Settings
    queries: QueryService
    schemas: SchemaDirectory
    meter: UsageMeter

    async def describe(self, principal: Principal, identified: Identified) -> PrincipalResponse:
        """The principal, by what it was identified. Raises Forbidden, Unavailable, PolicyError."""
        databases = await self.queries.list_databases(principal)
        described = await gather_all(
            self.schemas.describe_tables(name, (), principal, _MOST_TABLES) for name in databases
        )
        return PrincipalResponse(
            name=principal.name,
            roles=list(principal.roles),
            databases=list(databases),
            sign_in=identified if self.settings.identity.needs_token else "none",
            rights=RightsResponse(review=may_review(self.settings, principal)),
            max_rows=self.settings.limits.max_rows,
            limits=await self.meter.read(principal),
            hidden=[
                hidden
                for name, tables in zip(databases, described, strict=True)
                for hidden in _list_hidden(name, tables)
            ],
        )


def _list_hidden(database: str, described: TableDescriptions) -> Iterator[HiddenResponse]:
    rows, masks = dict(described.row_rules), dict(described.masks)
    for table in described.tables:
        name = table.qualified
        if name in rows or name in masks:
            yield HiddenResponse(
                database=database,
                table=name,
                rows=rows.get(name, ""),
                some_rows=name in rows,
                columns=list(masks.get(name, ())),
            )
