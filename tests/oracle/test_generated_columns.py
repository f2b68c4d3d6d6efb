"""What a role may not read it cannot read of a generated column, or of a table that INHERITS."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from execution.policies.access import CompiledPolicy
from execution.policies.policy_file import parse_policy
from execution.postgres.embedded import READER, EmbeddedServer
from nl2sql.catalog import Catalog
from nl2sql.errors import PolicyError
from nl2sql.types import Principal
from retrieval.introspection.duckdb_file import read_duckdb_catalog
from retrieval.introspection.postgres.catalog import read_postgres_catalog
from retrieval.introspection.sqlite_file import read_sqlite_catalog
from tests.embedded_databases import fill_database
from tests.execution.duckdb.shop import write as write_duckdb
from tests.execution.sqlite.shop import write as write_sqlite
from tests.oracle.file_stage import FileStage
from tests.oracle.stage import PostgresStage, Stage, Subject
from tests.oracle.verdicts import Kind

pytestmark = pytest.mark.quick

_TABLE = """
CREATE TABLE pay (id int PRIMARY KEY, "sec""ret" int, open int,
  g int GENERATED ALWAYS AS (1 + "sec""ret") {0}, h int GENERATED ALWAYS AS ({1} * 2) {0},
  i int GENERATED ALWAYS AS (OPEN + 1) {0});
INSERT INTO pay (id, "sec""ret", open) VALUES (1, 10, 5), (2, 20, 6);
"""
_SCRIPTS = {
    "postgres": _TABLE.format("STORED", '"sec""ret"'),
    "sqlite": _TABLE.format("STORED", "g"),
    "duckdb": _TABLE.format("", "g"),
}
_READ = {"sqlite": read_sqlite_catalog, "duckdb": read_duckdb_catalog}
_WRITE = {"sqlite": write_sqlite, "duckdb": write_duckdb}

_FAMILY = """
CREATE TABLE base (id int, secret int);
CREATE TABLE middle (word text) INHERITS (base);
CREATE TABLE child (own int) INHERITS (middle);
CREATE TABLE parts (id int, a int, b int, g int GENERATED ALWAYS AS (a) STORED)
  PARTITION BY LIST (id);
CREATE TABLE part (id int, a int, b int, g int GENERATED ALWAYS AS (b) STORED);
ALTER TABLE parts ATTACH PARTITION part FOR VALUES IN (1);
"""


@contextmanager
def _open(
    dialect: str, server: EmbeddedServer, folder: Path, key: str
) -> Iterator[tuple[Stage, Catalog]]:
    schema = "public" if dialect == "postgres" else "main"
    role = {"tables": {"visible": "*"}, "rows": "all", key: [f'{schema}.pay.sec"ret']}
    policy = {"version": 1, "roles": {"all": role}}
    generated = {f"{schema}.pay.{name}": ['sec"ret'] for name in ("g", "h")}
    if dialect == "postgres":
        with fill_database(server, "pay", _SCRIPTS[dialect]) as url:
            catalog = read_postgres_catalog(url, database="pay", reader_role=READER)
            stage = PostgresStage(server, Subject("pay", catalog, policy, [], generated=generated))
            with closing(stage):
                yield stage, catalog
        return
    path = folder / "pay"
    _WRITE[dialect](path, _SCRIPTS[dialect])
    catalog = _READ[dialect](path, database="pay")
    files = FileStage(path, Subject("pay", catalog, policy, [], generated=generated), folder)
    with closing(files):
        yield files, catalog


@pytest.mark.parametrize("dialect", _SCRIPTS)
@pytest.mark.parametrize("key", ["masked_columns", "hidden_columns"])
def test_a_generated_column_is_withheld_with_what_it_is_computed_from(
    embedded_server: EmbeddedServer, tmp_path: Path, dialect: str, key: str
) -> None:
    anna = Principal("anna", ("all",))
    with _open(dialect, embedded_server, tmp_path, key) as (stage, catalog):
        judge = stage.judge(anna)
        for sql in ("SELECT id, i FROM pay", "SELECT * FROM pay", "SELECT max(i) FROM pay"):
            assert judge.judge(sql).kind is Kind.EQUAL, sql
        for name in ("g", "h"):
            verdict = judge.judge(f"SELECT {name} FROM pay WHERE {name} > 0 OR id = 1")
            expected = Kind.EQUAL if key == "masked_columns" else Kind.FORBIDDEN
            assert verdict.kind is expected, verdict
        compiled = CompiledPolicy(parse_policy(stage.subject.policy), catalog)
        opened = {name.rpartition(".")[2] for name in compiled.view(("all",)).open_columns}
        assert opened == {"id", "open", "i"}


def test_rows_of_heirs_are_seen_as_each_table_says(embedded_server: EmbeddedServer) -> None:
    rows = "INSERT INTO base VALUES (1, 7), (5, 8); INSERT INTO child VALUES (1, 9, 'a', 3);"
    filters = {"public.base": "id < 5", "public.middle": "id > 5", "public.child": "own = 3"}
    role = {"tables": {"visible": [*filters]}, "row_filters": filters}
    policy = {"version": 1, "roles": {"all": role}}
    with fill_database(embedded_server, "family", _FAMILY + rows) as url:
        catalog = read_postgres_catalog(url, database="family", reader_role=READER)
        stage = PostgresStage(embedded_server, Subject("family", catalog, policy, []))
        with closing(stage):
            judge = stage.judge(Principal("anna", ("all",)))
            for sql in (
                "SELECT id, secret FROM base",
                "SELECT b.secret, c.word FROM base AS b LEFT JOIN child AS c USING (id)",
                "SELECT count(*) AS n, sum(m.secret) AS s FROM middle AS m, child AS c",
            ):
                assert judge.judge(sql).kind is Kind.EQUAL, sql


def test_a_table_that_inherits_is_withheld_with_its_parent(
    embedded_server: EmbeddedServer,
) -> None:
    with fill_database(embedded_server, "family", _FAMILY) as url:
        catalog = read_postgres_catalog(url, database="family", reader_role=READER)

    def compile_role(**role: Any) -> Mapping[str, Any]:
        value = {"tables": {"visible": "*"}, "rows": "all", **role}
        return CompiledPolicy(parse_policy({"version": 1, "roles": {"all": value}}), catalog).roles[
            "all"
        ]

    # Upwards too: the rows of a child are rows of its parent.
    for name in ("base", "child"):
        rules = compile_role(masked_columns=[f"public.{name}.secret"])
        masked = {name for name, rule in rules.items() if rule.masks == {"secret"}}
        assert masked == {"public.base", "public.middle", "public.child"}
    # A partition may compute the column otherwise.
    for name in ("a", "b"):
        rules = compile_role(masked_columns=[f"public.parts.{name}"])
        assert rules["public.parts"].masks == {name, "g"}
    hidden = {"visible": "*", "hidden": ["public.middle"]}
    with pytest.raises(PolicyError, match=r"public\.child would show rows .* public\.base"):
        compile_role(row_filters={"public.base": "id = 1"}, tables=hidden)
    with pytest.raises(PolicyError, match=r"public\.base would show rows .* public\.child"):
        compile_role(row_filters={"public.child": "id = 1"}, tables=hidden)
    # A parent shows the rows of a hidden child, at any distance, unless its own filter decides.
    for parent in ("base", "middle"):
        with pytest.raises(
            PolicyError, match=rf"public\.{parent} would show rows that public\.child"
        ):
            compile_role(tables={"visible": [f"public.{parent}"]})
    assert compile_role(tables={"visible": ["public.child"]})
    with pytest.raises(PolicyError, match=r"there is no table public\.part"):
        compile_role(tables={"visible": "*", "hidden": ["public.part"]})
    both = {"public.base": "id = 1", "public.child": "id = 1"}
    assert compile_role(row_filters=both, tables=hidden)
