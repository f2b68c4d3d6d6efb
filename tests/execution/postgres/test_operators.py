"""Operators on the real server: those of the allowlist, of extensions, and of users."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest

from execution.allowlists import Allowlist, extend_allowlist, load_allowlist
from execution.guard.guard import guard_query
from execution.policies.access import open_access
from execution.postgres.database import PostgresDatabase
from execution.postgres.embedded import READER, SUPERUSER, EmbeddedServer
from execution.postgres.plan_verification import OWN_DEFINITION
from nl2sql.settings.limits import LimitSettings
from nl2sql.types import Diagnostic, GuardedQuery, ResultSet
from retrieval.introspection.postgres.catalog import read_postgres_catalog
from tests.execution.expecting import expect

NEAREST = "SELECT id FROM item ORDER BY emb {} '{}'{} LIMIT 1"
# The stand-in for pgvector's operator, as somebody without pgvector would write it.
OWN_OPERATOR = """
CREATE FUNCTION cosd(float8[], float8[]) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$
  SELECT 1 - (SELECT sum(x * y) FROM unnest($1, $2) AS u (x, y))
    / (sqrt((SELECT sum(x * x) FROM unnest($1) AS x))
       * sqrt((SELECT sum(x * x) FROM unnest($2) AS x))) $$;
CREATE OPERATOR <=> (LEFTARG = float8[], RIGHTARG = float8[], FUNCTION = cosd);
CREATE TABLE item (id int PRIMARY KEY, emb float8[]);
INSERT INTO item VALUES (1, '{1,0}'), (2, '{0,1}'), (3, '{0.9,0.1}');
CREATE FUNCTION cosine_distance(text, text) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN RAISE EXCEPTION 'called'; END $$;
"""
VECTORS = """
CREATE EXTENSION vector;
CREATE TABLE item (id int PRIMARY KEY, emb vector(2));
INSERT INTO item VALUES (1, '[1,0]'), (2, '[0,1]'), (3, '[0.9,0.1]');
"""


class Shop:
    """One database, its catalog, and what runs there through the guard."""

    def __init__(self, server: EmbeddedServer, name: str, *, allowlist: Allowlist | None) -> None:
        url = server.url(name, SUPERUSER)
        self._access = open_access(
            read_postgres_catalog(url, database=name, reader_role=READER, schemas=("public",))
        )
        self._allowlist = allowlist
        self.database = PostgresDatabase(
            name,
            server.url(name, READER),
            LimitSettings(),
            search_path=("public",),
            allowlist=allowlist,
        )

    def guard(self, sql: str) -> GuardedQuery:
        return expect(GuardedQuery, guard_query(sql, self._access, self._allowlist))

    async def run(self, sql: str) -> ResultSet | Diagnostic:
        query = self.guard(sql)
        explained = await self.database.explain(query)
        return (
            explained
            if isinstance(explained, Diagnostic)
            else await self.database.execute(query, 10)
        )


def create(server: EmbeddedServer, name: str, script: str) -> None:
    with psycopg.connect(server.url("postgres", SUPERUSER), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)".encode())
        connection.execute(f"CREATE DATABASE {name}".encode())
    with psycopg.connect(server.url(name, SUPERUSER), autocommit=True) as connection:
        connection.execute(script.encode())
        connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {READER}".encode())


@pytest.fixture(scope="module")
def server(embedded_server: EmbeddedServer) -> EmbeddedServer:
    create(embedded_server, "vectors", VECTORS)
    create(embedded_server, "own_operator", OWN_OPERATOR)
    return embedded_server


@pytest.fixture
async def vectors(server: EmbeddedServer) -> AsyncIterator[Shop]:
    shop = Shop(server, "vectors", allowlist=None)
    yield shop
    await shop.database.close()


@pytest.mark.parametrize("operator", ["<=>", "<->", "<#>", "<+>"])
async def test_the_nearest_vector_is_the_nearest(vectors: Shop, operator: str) -> None:
    for written in ("", "::vector"):
        result = await vectors.run(NEAREST.format(operator, "[0,1]", written))
        assert expect(ResultSet, result).rows == ((2,),)
    result = await vectors.run("SELECT cosine_distance(emb, '[0,1]') FROM item WHERE id = 2")
    assert expect(ResultSet, result).rows == ((0.0,),)


async def test_an_operator_of_ones_own_runs_only_if_it_is_allowed(
    server: EmbeddedServer, tmp_path: Path
) -> None:
    file = tmp_path / "allow.yaml"
    file.write_text("operators: ['<=>']", encoding="utf-8")
    sql = NEAREST.format("<=>", "{0,1}", "::float8[]")
    for allowlist in (None, extend_allowlist("postgres", file)):
        shop = Shop(server, "own_operator", allowlist=allowlist)
        try:
            result = await shop.run(sql)
        finally:
            await shop.database.close()
        if allowlist is None:
            refusal = expect(Diagnostic, result)
            assert refusal.sqlstate == OWN_DEFINITION
            assert refusal.message.startswith("<=>")
        else:
            assert expect(ResultSet, result).rows == ((2,),)


async def test_a_function_of_ones_own_is_not_even_called_while_planning(
    server: EmbeddedServer,
) -> None:
    """Planning calls an immutable function of constants."""
    shop = Shop(server, "own_operator", allowlist=None)
    query = shop.guard("SELECT cosine_distance('a', 'b') FROM item")
    try:
        refusals = [await shop.database.explain(query), await shop.database.execute(query, 10)]
    finally:
        await shop.database.close()
    assert [expect(Diagnostic, found).sqlstate for found in refusals] == [OWN_DEFINITION] * 2


def test_the_allowlist_has_the_servers_operators(server: EmbeddedServer) -> None:
    with psycopg.connect(server.url("vectors", SUPERUSER)) as connection:
        volatile = connection.execute(
            "SELECT oprname FROM pg_operator o JOIN pg_proc p ON p.oid = o.oprcode "
            "WHERE p.provolatile = 'v' AND oprnamespace = 'pg_catalog'::regnamespace"
        ).fetchall()
        built_in = connection.execute(
            "SELECT DISTINCT oprname FROM pg_operator "
            "WHERE oprnamespace = 'pg_catalog'::regnamespace"
        ).fetchall()
        of_vector = connection.execute(
            "SELECT DISTINCT oprname FROM pg_operator WHERE oprnamespace = 'public'::regnamespace"
        ).fetchall()
    allowlist = load_allowlist("postgres")
    assert not volatile
    assert {name for (name,) in built_in} == allowlist.operators - allowlist.extended
    assert {name for (name,) in of_vector} <= allowlist.operators
