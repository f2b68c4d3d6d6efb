"""A masked column of a domain that is never NULL, on a real server."""

from __future__ import annotations

import psycopg
import pytest

from execution.guard.guard import guard_query
from execution.policies.access import CompiledPolicy
from execution.policies.policy_file import parse_policy
from execution.postgres.database import PostgresDatabase
from execution.postgres.embedded import READER, SUPERUSER, EmbeddedServer
from nl2sql.catalog import Catalog
from nl2sql.types import GuardedQuery, Principal, ResultSet, Violation
from retrieval.introspection.postgres.catalog import read_postgres_catalog
from serve_app.composition.wiring import Wiring
from tests.execution.expecting import expect

DATABASE = "demo_erp"


def read_catalog(server: EmbeddedServer, database: str, schemas: tuple[str, ...]) -> Catalog:
    url = server.url(database, SUPERUSER)
    return read_postgres_catalog(url, database=database, reader_role=READER, schemas=schemas)


@pytest.mark.parametrize("domain", ["deep", "plain"])
async def test_a_masked_column_of_a_domain_that_is_not_null(
    embedded_server: EmbeddedServer, wiring: Wiring, domain: str
) -> None:
    name = f"domain_{domain}"
    with psycopg.connect(embedded_server.url("postgres", SUPERUSER), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)".encode())
        connection.execute(f"CREATE DATABASE {name}".encode())
    with psycopg.connect(embedded_server.url(name, SUPERUSER), autocommit=True) as connection:
        connection.execute(
            f"CREATE DOMAIN plain AS numeric(9,2) NOT NULL; CREATE DOMAIN deep AS plain; "
            f"CREATE TABLE pay (id int, amount {domain}); INSERT INTO pay VALUES (1, 5), (2, 7); "
            f"GRANT SELECT ON pay TO {READER}".encode()
        )
    catalog = read_catalog(embedded_server, name, ("public",))
    role = {"tables": {"visible": ["public.pay"]}, "masked_columns": ["public.pay.amount"]}
    policy = parse_policy({"version": 1, "roles": {"clerk": role | {"rows": "all"}}})
    access = CompiledPolicy(policy, catalog).access(Principal("ann", ("clerk",)))
    assert not isinstance(access, Violation)
    database = PostgresDatabase(
        name, embedded_server.url(name, READER), wiring.settings.limits, search_path=("public",)
    )
    try:
        query = guard_query("SELECT id, amount FROM pay WHERE amount IS NULL ORDER BY id", access)
        answer = await database.execute(expect(GuardedQuery, query), 10)
    finally:
        await database.close()
    result = expect(ResultSet, answer)
    assert (result.rows, result.types) == (((1, None), (2, None)), ("int4", "numeric(9,2)"))
