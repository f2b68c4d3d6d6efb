"""What the third reading finds in plans, without a database."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from execution.postgres.plan_verification import PlanNames, find_unexplained, read_names
from nl2sql.types import GuardedQuery

CALLS = {
    "ts_stat(x)": {"ts_stat"},
    "(pg_catalog.upper((t.name)::text) = 'X'::text)": {"upper"},
    'lab."Odd Name"(1)': {"lab.Odd Name"},
    "\"substring\"(t.name, 'f(x)'::text)": {"substring"},
    "SUBSTRING(t.name FROM 2 FOR 3)": {"substring"},
    "TRIM(BOTH 'x'::text FROM t.name)": {"trim"},
    "POSITION(('a'::text) IN (t.name))": {"position"},
    "EXTRACT(year FROM t.d)": {"extract"},
    "(t.name)::character varying(3)": set(),
    "(t.id)::numeric(10,2)": set(),
    "(t.d)::timestamp(3) without time zone": set(),
    "(t.p)::lab.kind(4)": set(),
    "((t.id = ANY ('{1,2}'::integer[])) AND (t.name IS NOT NULL))": set(),
    "(NOT (ANY (t.id = (hashed SubPlan 1).col1)))": set(),
    "EXISTS(SubPlan 1)": set(),
    "w AS (ORDER BY t.name ROWS BETWEEN '1'::bigint PRECEDING AND 2 FOLLOWING)": set(),
    "count(*) FILTER (WHERE (id > 3))": {"count"},
    "PARTIAL sum(t.id)": {"sum"},
    "percentile_cont('0.5'::double precision) WITHIN GROUP (ORDER BY id)": {"percentile_cont"},
    "COALESCE(NULLIF(t.name, 'y'::text), GREATEST(a, LEAST(b, 2))::text)": set(),
    "ROW(t.id, ARRAY[t.id])": set(),
    "'it''s f(x)'::text": set(),
    '"f(x)".a': set(),
    "CASE WHEN (a > 1) THEN (b) ELSE (c) END": set(),
    "concat_ws(a, VARIADIC (InitPlan 1).col1)": {"concat_ws"},
    "concat(VARIADIC (b))": {"concat"},
    "XMLELEMENT(NAME a)": {"xmlelement"},
    "now ()": {"now"},
    "(t.id <> ALL (SubPlan 1))": set(),
    "rank() OVER (?)": {"rank"},
    "w AS (ORDER BY t.id RANGE BETWEEN (1 + 1) PRECEDING AND CURRENT ROW)": set(),
    "w AS (ORDER BY t.id RANGE ('1'::bigint) PRECEDING)": set(),
    '"odd""name"(1)': {'odd"name'},
    "(CURRENT_TIME(3) > t.at)": set(),
    "(CURRENT_TIMESTAMP(3) > t.at)": set(),
    "(LOCALTIME(3) > t.at)": set(),
    "(LOCALTIMESTAMP(3) > t.at)": set(),
    "ARRAY(SubPlan 1)": set(),
    "GROUPING(t.a, t.b)": set(),
    "count(DISTINCT (t.a))": {"count"},
    "((t.a, t.b) OVERLAPS (t.c, t.d))": set(),
    "OVERLAY((t.a) PLACING (t.b) FROM (t.c) FOR (t.d))": {"overlay"},
    "w AS (PARTITION BY (t.a) ORDER BY (t.b) GROUPS (1 + 1) PRECEDING)": set(),
    "w AS (ORDER BY t.b ROWS (1 + 1) PRECEDING)": set(),
    "CASE (t.a) WHEN (1) THEN (2) ELSE (3) END": set(),
    "((t.a) IN (1, 2)) OR ((t.b) LIKE ('x')) OR ((t.c) = ANY (t.d))": set(),
    "((t.a) BETWEEN (1) AND (2))": set(),
}


@pytest.mark.parametrize(("expression", "functions"), CALLS.items(), ids=CALLS)
def test_functions_are_told_from_all_else_that_has_parentheses(
    expression: str, functions: set[str]
) -> None:
    assert read_names({"Node Type": "Result", "Output": [expression]}).functions == functions


@pytest.mark.parametrize(
    "key",
    ["Output", "Filter", "Index Cond", "Sort Key", "Function Call", "Window", "Run Condition"],
)
def test_an_expression_is_read_wherever_it_stands(key: str) -> None:
    below = {"Node Type": "Result", key: "f(x)"}
    assert read_names({"Node Type": "Limit", "Plans": [below]}).functions == {"f"}
    assert read_names({"Node Type": "Limit", "Plans": [{**below, key: [["f(x)"]]}]}).functions


def test_names_that_look_like_calls_are_none() -> None:
    step = {"Node Type": "Seq Scan", "Relation Name": "f(x)", "Schema": "s", "Alias": "g(x)"}
    assert read_names(step) == PlanNames(frozenset({"s.f(x)"}))


@pytest.mark.parametrize(
    "key",
    [
        "CTE Name",
        "Custom Plan Provider",
        "Function Name",
        "Index Name",
        "Sampling Method",
        "Subplan Name",
        "Table Function Name",
        "Tuplestore Name",
    ],
)
def test_a_name_is_no_expression(key: str) -> None:
    below = {"Node Type": "Result", key: "f(x)"}
    assert not read_names({"Node Type": "Limit", "Plans": [below]})


def test_the_words_of_a_plan_are_no_calls() -> None:
    words = {
        "Command": "Intersect All",
        "Join Type": "Right Anti",
        "Node Type": "SetOp",
        "Operation": "Insert",
        "Parent Relationship": "InitPlan",
        "Partial Mode": "Finalize",
        "Scan Direction": "NoMovement",
        "Strategy": "Hashed",
    }
    assert not read_names(words)


def test_a_function_on_the_search_path_shows_without_its_schema() -> None:
    asked = GuardedQuery("shop", "SELECT …", (), functions=("lab.f",))
    for call, is_explained in (("f(x)", True), ("lab.f(x)", True), ("g(x)", False)):
        found = find_unexplained({"Node Type": "Result", "Output": [call]}, asked, ())
        assert (not found) == is_explained


def scan(alias: str, **more: Any) -> Mapping[str, Any]:
    return {
        "Node Type": "Seq Scan",
        "Schema": "hr",
        "Relation Name": "staff",
        "Alias": alias,
        **more,
    }


WRAPPED = GuardedQuery(
    "shop", "SELECT …", ("hr.staff",), wrapped=True, filters=(("hr.staff", ("dept", "Odd Name")),)
)
BEHIND = {
    "filter": scan("_0", Filter="(_0.dept = '3'::bigint)"),
    "quoted": scan("_0", Filter='(_0."Odd Name" = 3)'),
    "second_of_its_name": scan("_0_1", Filter="(_0_1.dept = 3)"),
    "condition_of_a_join": {
        "Node Type": "Hash Join",
        "Hash Cond": "(_0.dept = _1.id)",
        "Plans": [scan("_0")],
    },
}
NOT_BEHIND = {
    "no_condition": scan("_0"),
    "only_given_on": scan("_0", Output=["_0.dept"]),
    "condition_on_another_column": scan("_0", Filter="(_0.name = 'x'::text)"),
    "condition_on_another_table": scan("_0", Filter="(_0_1.dept = 3)"),
    "condition_on_a_longer_name": scan("_0", Filter="(_0.dept2 = 3)"),
    "only_given_on_to_another_step": {
        "Node Type": "Limit",
        "Plans": [scan("_0", Output=["_0.dept"])],
    },
    "alias_of_the_query": scan("s", Filter="(s.dept = 3)"),
}


@pytest.mark.parametrize("plan", BEHIND.values(), ids=BEHIND)
def test_a_table_behind_its_filter_is_explained(plan: Mapping[str, Any]) -> None:
    assert not find_unexplained(plan, WRAPPED, ())


def test_a_table_without_a_filter_must_stand_in_its_wrapper() -> None:
    asked = GuardedQuery("shop", "SELECT …", ("hr.staff",), wrapped=True)
    assert not find_unexplained(scan("_0"), asked, ())
    assert find_unexplained(scan("s"), asked, ()).relations == {"hr.staff"}


@pytest.mark.parametrize("plan", NOT_BEHIND.values(), ids=NOT_BEHIND)
def test_a_table_that_is_not_behind_its_filter_is_not(plan: Mapping[str, Any]) -> None:
    assert find_unexplained(plan, WRAPPED, ()).relations == {"hr.staff"}
