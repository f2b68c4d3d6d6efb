"""The resources: schemas, tables and examples."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp import Client
from mcp.client.client import ConnectMode
from mcp.shared.exceptions import MCPError
from mcp_types import TextResourceContents

from execution.guard.guard import SqlGuard
from nl2sql.types import Principal
from retrieval.schema_directory import SchemaDirectory
from tests.fakes import SHOP, FakeCatalogs, build_settings
from tests.serve_app.mcp.clients import MODES, connect_directly
from tests.serve_app.served import build_services


def connect(mode: ConnectMode = "auto") -> Any:
    services = build_services(build_settings())
    return connect_directly(services, principal=Principal("local"), mode=mode)


async def read(client: Client, uri: str) -> dict[str, Any]:
    (content,) = (await client.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    assert content.mime_type == "application/json"
    document: dict[str, Any] = json.loads(content.text)
    return document


@pytest.mark.parametrize("mode", MODES)
async def test_each_database_has_its_schema_and_its_examples(mode: ConnectMode) -> None:
    async with connect(mode) as client:
        listed = [resource.uri for resource in (await client.list_resources()).resources]
        assert listed == ["schema://shop", "examples://shop"]
        templates = (await client.list_resource_templates()).resource_templates
        assert "schema://{database}/{table}" in [found.uri_template for found in templates]
        schema = await read(client, "schema://shop")
        assert [table["name"] for table in schema["tables"]] == list(SHOP.short_names.values())
        assert await read(client, "examples://shop") == {"examples": []}


@pytest.mark.parametrize("name", ["orders", "sales.orders", "sales%2Eorders", '"orders"'])
async def test_a_table_is_described_under_each_of_its_names(name: str) -> None:
    async with connect() as client:
        document = await read(client, f"schema://shop/{name}")
    (table,) = document["tables"]
    assert table["primary_key"] == ["id"]


@pytest.mark.parametrize(
    "uri",
    [
        "schema://nowhere",
        "schema://shop/nowhere",
        "examples://nowhere",
        "examples://shop/orders",
        "schema://shop?x=1",
        "schema:///orders",
        "file:///etc/passwd",
        "rows://shop/orders",
    ],
)
async def test_anything_else_is_no_resource(uri: str) -> None:
    async with connect() as client:
        with pytest.raises(MCPError, match="no such resource"):
            await client.read_resource(uri)


async def test_an_index_that_does_not_answer_is_an_error_of_the_protocol() -> None:
    never_indexed = SchemaDirectory(SqlGuard(FakeCatalogs()))
    services = build_services(build_settings(), schemas=never_indexed)
    async with connect_directly(services, principal=Principal("local")) as client:
        with pytest.raises(MCPError, match="has not been indexed"):
            await client.read_resource("schema://shop")
        with pytest.raises(MCPError, match="has not been indexed"):
            await client.list_resources()
