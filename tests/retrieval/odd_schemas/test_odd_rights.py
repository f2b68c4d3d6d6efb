"""What the reader may not read: reported with the statement that helps, and never shown."""

from __future__ import annotations

from dataclasses import replace

import psycopg
import pytest

from execution.guard.guard import PolicySettings, SqlGuard
from execution.policies.policy_file import parse_policy
from execution.postgres.embedded import READER, EmbeddedServer
from nl2sql.skipped import describe_skipped, list_remedies
from nl2sql.types import NOT_PERMITTED, Principal, Violation
from tests.fakes import FakeCatalogs
from tests.retrieval.odd_schemas.building import build_on_postgres, read_on_postgres
from tests.retrieval.odd_schemas.odd_schema import OddSchema
from tests.retrieval.odd_schemas.postgres_schemas import ODD_SCHEMAS
from tests.retrieval.odd_schemas.walk import OddDatabase

BY_NAME = {odd.name: odd for odd in ODD_SCHEMAS}


@pytest.mark.parametrize(
    "name", ["all_denied", "half_denied", "columns_denied", "partitions", "rights_of_views"]
)
def test_the_statements_that_are_given_help(name: str, odd_server: EmbeddedServer) -> None:
    odd = replace(BY_NAME[name], name=f"{name}_granted")
    build_on_postgres(odd_server, odd)
    with psycopg.connect(odd_server.url(odd.name, "postgres"), autocommit=True) as connection:
        for statement in list_remedies(read_on_postgres(odd_server, odd).skipped, most=100):
            connection.execute(statement.encode())
    assert read_on_postgres(odd_server, odd).skipped == ()


def test_a_view_that_is_left_out_could_not_be_read(odd_server: EmbeddedServer) -> None:
    odd = BY_NAME["rights_of_views"]
    build_on_postgres(odd_server, odd)
    views = [gap for gap in read_on_postgres(odd_server, odd).skipped if gap.kind == "view"]
    assert len(views) == 5
    with psycopg.connect(odd_server.url(odd.name, READER), autocommit=True) as connection:
        for view in views:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"SELECT * FROM {view.name}".encode())


def test_what_was_left_out_is_counted_by_reason(odd_server: EmbeddedServer) -> None:
    odd = BY_NAME["half_denied"]
    build_on_postgres(odd_server, odd)
    assert describe_skipped(read_on_postgres(odd_server, odd).skipped) == [
        "5 tables: no SELECT for the reader (public.t1, public.t3, public.t5, …)",
        "4 foreign keys: its target is not indexed (public.t2.t2_up_fkey, "
        "public.t4.t4_up_fkey, public.t6.t6_up_fkey, …)",
    ]


def test_a_temporary_table_is_nobody_elses(odd_server: EmbeddedServer) -> None:
    odd = OddSchema("temporary", "CREATE TABLE lasting (id int)", ("public.lasting",))
    build_on_postgres(odd_server, odd)
    with psycopg.connect(odd_server.url(odd.name, "postgres"), autocommit=True) as connection:
        connection.execute(
            f"CREATE TEMPORARY TABLE passing (id int); GRANT SELECT ON passing TO {READER}"
        )
        catalog = read_on_postgres(odd_server, odd)
    assert [table.qualified for table in catalog.tables] == ["public.lasting"]
    assert catalog.skipped == ()


async def test_a_policy_hides_odd_names_as_it_hides_others(odd_server: EmbeddedServer) -> None:
    odd = OddSchema(
        "odd_policy",
        'CREATE TABLE "open one" (id int, "hidden col" int, "ünseen" text);'
        'CREATE TABLE "hidden 🙈" (id int, "open one" int);'
        'CREATE TABLE "a.b" (id int, "secret x" int); CREATE VIEW peek AS TABLE "hidden 🙈"',
        ("public.open one", "public.hidden 🙈", "public.a.b", "public.peek"),
    )
    build_on_postgres(odd_server, odd)
    catalog = read_on_postgres(odd_server, odd)
    policy = parse_policy(
        {
            "version": 1,
            "shared": ["public.a.b"],
            "roles": {
                "clerk": {
                    "tables": {"visible": ["public.open one", "public.a.b"]},
                    "row_filters": {"public.open one": "id < 10"},
                    "hidden_columns": ["public.open one.hidden col", "public.a.b.secret x"],
                }
            },
        }
    )
    guard = SqlGuard(FakeCatalogs(catalog), {odd.name: PolicySettings(policy)})
    clerk = Principal("clerk", ("clerk",))
    database = OddDatabase(catalog, guard=guard, asker=clerk)
    await database.index()
    walked = await database.ask("hidden 🙈 open one hidden col secret x ünseen peek a b")
    assert {hit.table.qualified for hit in walked.context.tables} == {
        "public.open one",
        "public.a.b",
    }
    for text in walked.texts:
        assert '"ünseen"' in text
        for hidden in ("hidden", "🙈", "secret", "peek"):
            assert hidden not in text
    for sql in (
        'SELECT "hidden col" FROM "open one"',
        'SELECT id FROM "hidden 🙈"',
        'SELECT "secret x" FROM "a.b"',
    ):
        refused = await guard.guard(odd.name, sql, clerk)
        assert isinstance(refused, Violation)
        assert refused.code == NOT_PERMITTED
