"""The grammar's statements: what they are made of, and that the fuzzers see what they must see."""

from __future__ import annotations

import random
from itertools import islice
from pathlib import Path

import postgast
import pytest

from execution.postgres.embedded import EmbeddedServer
from nl2sql.types import GuardedQuery
from tests.oracle.coverage.counting import Counts, Coverage, count_features
from tests.oracle.coverage.postgres_features import list_features
from tests.oracle.demo import PRINCIPALS
from tests.oracle.engines import ENGINES, aim_statements
from tests.oracle.grammar.dialect import load_dialect
from tests.oracle.grammar.queries import QueryGrammar
from tests.oracle.grammar.scope import Scope, Source
from tests.oracle.postgres_fuzz import PostgresFuzzer
from tests.oracle.seeds import load_seeds
from tests.oracle.shop_fuzz import fuzz_duckdb, fuzz_sqlite
from tests.oracle.stage import PostgresStage
from tests.oracle.tree_mutations import mutate_tree

SECONDS = 10
CHOSEN = [each for each in PRINCIPALS if each.name in ("support", "public")]


def test_most_statements_are_postgresql(stage: PostgresStage) -> None:
    catalog = stage.subjects[0].catalog
    grammar = QueryGrammar(load_dialect("postgres"), catalog, random.Random(7))
    texts = [text for _, text in islice(grammar.iterate(), 200)]
    again = QueryGrammar(load_dialect("postgres"), catalog, random.Random(7))
    assert texts == [text for _, text in islice(again.iterate(), 200)]
    found = [list_features(text) for text in texts]
    assert sum(map(bool, found)) >= 180
    for feature in ("Alias.colnames", "RangeFunction", "WithClause.recursive", "GroupingSet"):
        assert any(feature in each for each in found), feature


def test_a_renamed_source_knows_what_it_has_lost() -> None:
    source = Source("t", (("a", "int"), ("b", "int"))).rename("u", ["b", "x"])
    assert source.columns == (("b", "int"), ("x", "int"))
    assert source.lost == ("a",)
    scope = Scope(sources=[source])
    assert scope.list_columns("int") == ["u.b", "b", "u.x", "x"]


def test_seeds_are_postgresql() -> None:
    seeds = load_seeds()
    assert len(seeds) >= 390
    for topic, statement in seeds:
        assert list_features(statement), (topic, statement)


def test_changed_seeds_are_postgresql() -> None:
    seeds = [statement for _, statement in load_seeds("joins")]
    rng = random.Random(7)
    changed = [mutate_tree(seed, seeds, rng, ["salary", "lower"]) for seed in seeds]
    kept = [text for text in changed if text]
    assert len(kept) > len(seeds) / 2
    assert len(set(kept) - set(map(_deparse, seeds))) > len(seeds) / 3


def _deparse(statement: str) -> str:
    return str(postgast.deparse(postgast.parse(statement)))


def test_features_name_nodes_fields_and_values() -> None:
    found = list_features(
        "SELECT sum(x) OVER (ORDER BY x ROWS 1 PRECEDING EXCLUDE TIES) FROM t AS u(x) "
        "LEFT JOIN w USING (a) AS k"
    )
    assert {
        "Alias.colnames",
        "JoinExpr.join_using_alias",
        "JoinExpr.jointype=JOIN_LEFT",
        "WindowDef.frame_options=ROWS",
        "WindowDef.frame_options=EXCLUDE TIES",
        "function sum",
    } <= found
    assert "SelectStmt.where_clause" not in found


def test_a_construct_that_is_never_produced_is_a_gap() -> None:
    texts = ["SELECT 1"] * 100
    counts = count_features(texts, lambda text: GuardedQuery("d", text, ()), list_features)
    expected = {"SelectStmt": "", "SubLink": "", "IntoClause": "refused"}
    coverage = Coverage("PostgreSQL", expected, {"made": counts})
    assert coverage.find_gaps() == ["SubLink"]
    assert "| `SubLink` | 0 / 0 | **below 100** |" in coverage.render()
    assert Coverage("PostgreSQL", expected, {"made": Counts()}).find_gaps()[0] == "SelectStmt"


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_statements_of_the_engines_do_no_harm(
    engine: str, embedded_server: EmbeddedServer, stage: PostgresStage
) -> None:
    fuzzer = PostgresFuzzer(embedded_server, stage, CHOSEN)
    rng = random.Random(7)
    streams = ENGINES[engine](stage, CHOSEN, fuzzer.targets, rng)
    report = fuzzer.run_aimed(aim_statements(streams, rng), seconds=SECONDS)
    fuzzer.close()
    assert not report.troubles, report.render()
    assert report.rows >= 5, report.render()


@pytest.mark.parametrize("fuzz", [fuzz_sqlite, fuzz_duckdb])
def test_statements_of_the_grammar_do_no_harm_to_files(fuzz: object, tmp_path: Path) -> None:
    assert callable(fuzz)
    report = fuzz(tmp_path, random.Random(7), seconds=SECONDS)
    assert not report.troubles, report.render()
    assert report.rows >= 5, report.render()


@pytest.mark.parametrize(
    ("statement", "trouble"),
    [
        (
            "SELECT pg_typeof.pg_typeof FROM unnest(ARRAY[1]) AS pg_typeof(x)",
            "permission denied for function pg_typeof",
        ),
        ("SELECT pg_sleep(0)", "permission denied for function pg_sleep"),
        ("SELECT pg_advisory_lock(7)", "holds 1 advisory locks"),
        ("SELECT set_config('work_mem', '77kB', false)", "settings"),
        (
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE usename = 'quorumsql_reader' AND datname = current_database() "
            "AND datname LIKE '%marked'",
            "ended another session",
        ),
        (
            "SELECT pg_terminate_backend(pg_backend_pid()) WHERE current_database() LIKE '%marked'",
            "ended a session",
        ),
    ],
)
def test_effects_would_be_seen(
    statement: str, trouble: str, embedded_server: EmbeddedServer, stage: PostgresStage
) -> None:
    fuzzer = PostgresFuzzer(embedded_server, stage, CHOSEN[:1])
    target = fuzzer.targets[0]
    target.guard = lambda text: GuardedQuery("oracle_demo", text, ())
    report = fuzzer.run(iter([("made", statement)]), seconds=60)
    fuzzer.close()
    assert any(trouble in text for text in report.troubles), report.render()
