"""The grammar and the changed seeds: what their statements are made of, and how it is counted."""

from __future__ import annotations

import random
from itertools import islice

import postgast

from nl2sql.types import GuardedQuery
from tests.oracle.coverage.counting import Counts, Coverage, count_features
from tests.oracle.coverage.postgres_features import list_features
from tests.oracle.grammar.dialect import load_dialect
from tests.oracle.grammar.queries import QueryGrammar
from tests.oracle.grammar.scope import Scope, Source
from tests.oracle.seeds import load_seeds
from tests.oracle.stage import PostgresStage
from tests.oracle.tree_mutations import mutate_tree


def test_most_statements_are_postgresql(stage: PostgresStage) -> None:
    catalog = stage.subjects[0].catalog
    grammar = QueryGrammar(load_dialect("postgres"), catalog, random.Random(7))
    texts = [text for _, text in islice(grammar.iterate(), 200)]
    again = QueryGrammar(load_dialect("postgres"), catalog, random.Random(7))
    assert texts == [text for _, text in islice(again.iterate(), 200)]
    found = [list_features(text) for text in texts]
    assert sum(map(bool, found)) >= 180
    for feature in ("Alias.colnames", "RangeFunction", "WithClause.recursive", "GroupingSet"):
        assert any(feature in features for features in found), feature


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
