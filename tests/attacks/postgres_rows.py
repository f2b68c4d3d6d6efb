"""PostgreSQL: what only it has for reading a row past its policy."""

from __future__ import annotations

from functools import partial

from tests.attacks.attack import Answers, Attack, Carries, Shows, build_attack, one_column, spread
from tests.attacks.scratch import EVERYBODY, OURS

_attack = partial(build_attack, "postgres", "rows")


ATTACKS: list[Attack] = [
    # -- whole rows --
    *spread(
        _attack,
        {
            "whole_row": "SELECT e::text AS e FROM employees AS e WHERE id = 4",
            "row_to_json": "SELECT row_to_json(e)::text AS e FROM employees AS e WHERE id = 4",
        },
        Carries("7770"),
        (),
    ),
    _attack(
        "whole_row_of_the_bare_name",
        "SELECT employees::text AS e FROM employees WHERE id = 1",
        Carries("badge-1"),
        one_column("(1,Ada,,1,)"),
        role="member",
    ),
    _attack(
        "whole_row_compared",
        "SELECT e.name FROM employees AS e WHERE e > ROW(3, 'Z'::text, 0, 0, 0, ''::text)",
        Shows(one_column("Dora", "Emil", "Fay", "Gus")),
        (),
    ),
    _attack(
        "json_agg",
        "SELECT json_agg(e)::text AS e FROM employees AS e WHERE id = 4",
        Carries("7770"),
        one_column(None),
    ),
    _attack("count_of_rows", "SELECT count(e) AS n FROM employees AS e", Shows(((7,),)), ((3,),)),
    _attack(
        "field_of_a_row",
        "SELECT (e).salary FROM employees AS e WHERE id = 1",
        Shows(one_column(5100)),
        refused_as="node_not_allowed",
        role="member",
    ),
    *spread(
        _attack,
        {
            "hidden_field_of_a_row": "SELECT (e).badge FROM employees AS e WHERE id = 1",
            "field_of_a_row_in_a_subquery": (
                "SELECT (s.x).badge FROM (SELECT e AS x FROM employees AS e WHERE id = 1) AS s"
            ),
        },
        Shows(one_column("badge-1")),
        refused_as="node_not_allowed",
        role="member",
    ),
    *spread(
        _attack,
        {
            "all_fields_of_a_row": "SELECT (e).* FROM employees AS e WHERE id = 4",
            "builtin_as_a_field": "SELECT (e).to_jsonb::text FROM employees AS e WHERE id = 4",
        },
        Carries("7770"),
        refused_as="node_not_allowed",
    ),
    _attack(
        "function_as_a_column",
        "SELECT e.pay_of FROM employees AS e WHERE id = 4",
        Shows(((7770,),)),
        refused_as="unknown_column",
    ),
    _attack(
        "function_as_a_field",
        "SELECT (e).pay_of FROM employees AS e WHERE id = 4",
        Shows(((7770,),)),
        refused_as="node_not_allowed",
    ),
    _attack(
        "builtin_as_a_column",
        "SELECT e.row_to_json::text FROM employees AS e WHERE id = 4",
        Carries("7770"),
        refused_as="unknown_column",
    ),
    # -- columns that every table has --
    *spread(
        _attack,
        {
            "ctid": "SELECT name FROM employees WHERE ctid = '(0,2)'",
            "tableoid": "SELECT t.tableoid::text FROM tickets AS t",
            "xmin": "SELECT xmin::text FROM employees",
        },
        Answers(),
        refused_as="unknown_column",
    ),
    # -- tables of several parts --
    *spread(
        _attack,
        {
            "table_with_children": "SELECT topic FROM tickets",
            "table_with_a_star": "SELECT topic FROM tickets *",
        },
        Shows(one_column("ours", "theirs", "ours, old", "theirs, old")),
        one_column("ours", "ours, old"),
    ),
    _attack(
        "table_without_its_children",
        "SELECT topic FROM ONLY tickets",
        Shows(one_column("ours", "theirs")),
        refused_as="node_not_allowed",
    ),
    _attack(
        "partitioned_table",
        "SELECT note FROM events",
        Shows(one_column("ours", "theirs")),
        one_column("ours"),
    ),
    *spread(
        _attack,
        {
            "sample": "SELECT name FROM employees TABLESAMPLE SYSTEM (100)",
            "sample_bernoulli": (
                "SELECT name FROM employees TABLESAMPLE BERNOULLI (100) REPEATABLE (1)"
            ),
        },
        Shows(EVERYBODY),
        refused_as="node_not_allowed",
    ),
    _attack(
        "materialized_view_read_whole",
        "SELECT s.name FROM pay_snapshot AS s JOIN employees AS e USING (name)",
        Shows(EVERYBODY),
        refused_as="not_permitted",
    ),
    # -- scopes that only PostgreSQL has --
    _attack(
        "array_of_a_subquery",
        "SELECT ARRAY(SELECT name FROM employees ORDER BY name)::text AS n",
        Carries("Dora"),
        one_column("{Ada,Ben,Cleo}"),
    ),
    _attack(
        "array_agg_with_order",
        "SELECT array_agg(name ORDER BY salary DESC)::text AS n FROM employees",
        Carries("Fay,Dora"),
        one_column("{Ada,Ben,Cleo}"),
    ),
    *spread(
        _attack,
        {
            "percentile": (
                "SELECT percentile_disc(1) WITHIN GROUP (ORDER BY salary) AS n FROM employees"
            ),
            "values_of_a_subquery": (
                "SELECT v.n FROM (VALUES ((SELECT max(salary) FROM employees))) AS v (n)"
            ),
        },
        Shows(((9900,),)),
        ((5100,),),
    ),
    *spread(
        _attack,
        {
            "unnest_of_a_subquery": "SELECT u FROM unnest(ARRAY(SELECT name FROM employees)) AS u",
            "inlined_cte": (
                "WITH e AS NOT MATERIALIZED (SELECT * FROM employees) SELECT name FROM e"
            ),
            "table_command_in_a_subquery": "SELECT name FROM (TABLE employees) AS e",
        },
        Shows(EVERYBODY),
        OURS,
    ),
    _attack(
        "lateral_two_deep",
        "SELECT y.name FROM currencies AS c, LATERAL (SELECT c.rate AS r) AS x, "
        "LATERAL (SELECT e.name FROM employees AS e WHERE e.department_id = x.r + 1) AS y",
        Shows(one_column("Dora", "Emil", "Fay")),
        (),
    ),
    _attack(
        "recursive_cte_with_search",
        "WITH RECURSIVE chain AS (SELECT id, name, manager_id FROM employees WHERE id = 4 "
        "UNION ALL SELECT e.id, e.name, e.manager_id FROM employees AS e JOIN chain AS c "
        "ON e.manager_id = c.id) SEARCH DEPTH FIRST BY id SET place SELECT name FROM chain",
        Shows(one_column("Dora", "Emil", "Gus")),
        refused_as="node_not_allowed",
    ),
    _attack(
        "fetch_with_ties",
        "SELECT name FROM employees ORDER BY salary DESC FETCH FIRST 1 ROW WITH TIES",
        Shows(one_column("Fay")),
        one_column("Ada"),
    ),
    _attack(
        "window_by_groups",
        "SELECT max(name) OVER (ORDER BY salary GROUPS BETWEEN 1 PRECEDING AND 9 FOLLOWING) AS n "
        "FROM employees WHERE id = 3 OR department_id > 1",
        Carries("Fay"),
        one_column("Cleo"),
    ),
    # -- whole rows where a value may stand --
    _attack(
        "star_in_a_count", "SELECT count(e.*) AS n FROM employees AS e", Shows(((7,),)), ((3,),)
    ),
    _attack(
        "star_as_text",
        "SELECT (e.*)::text AS e FROM employees AS e WHERE id = 4",
        Carries("7770"),
        (),
    ),
    *spread(
        _attack,
        {
            "star_in_a_row": "SELECT ROW(e.*)::text AS e FROM employees AS e WHERE id = 1",
            "row_in_coalesce": "SELECT coalesce(e)::text AS e FROM employees AS e WHERE id = 1",
        },
        Carries("badge-1"),
        one_column("(1,Ada,,1,)"),
        role="member",
    ),
    _attack(
        "row_is_not_null",
        "SELECT count(*) AS n FROM employees AS e WHERE (e IS NOT NULL) OR e.id > 1",
        Shows(((6,),)),
        ((2,),),
    ),
    _attack(
        "null_of_the_row_type",
        "SELECT (jsonb_populate_record(NULL::main.payroll, '{}')).note IS NULL AS n",
        Shows(one_column(True)),
        refused_as="node_not_allowed",
    ),
    _attack(
        "no_columns_at_all",
        "SELECT EXISTS (SELECT FROM employees WHERE salary > 9000) AS yes",
        Shows(one_column(True)),
        one_column(False),
    ),
    _attack(
        "key_that_implies_the_rest",
        "SELECT id, name FROM employees GROUP BY id HAVING id > 2",
        Carries("Dora"),
        ((3, "Cleo"),),
    ),
    _attack(
        "hidden_column_in_an_aggregates_order",
        "SELECT array_agg(name ORDER BY badge)::text AS n FROM employees",
        Carries("Dora"),
        refused_as="not_permitted",
        role="member",
    ),
    _attack(
        "hidden_column_in_distinct_on",
        "SELECT DISTINCT ON (badge) name FROM employees",
        Shows(EVERYBODY),
        refused_as="not_permitted",
        role="member",
    ),
    _attack(
        "hidden_column_in_a_named_window",
        "SELECT rank() OVER w AS n FROM employees WHERE id = 1 WINDOW w AS (ORDER BY badge)",
        Shows(one_column(1)),
        refused_as="not_permitted",
        role="member",
    ),
    *spread(
        _attack,
        {
            "hidden_column_in_lateral": (
                "SELECT v.x FROM employees AS e, LATERAL (SELECT e.badge AS x) AS v WHERE e.id = 1"
            ),
            "hidden_column_in_within_group": (
                "SELECT mode() WITHIN GROUP (ORDER BY badge) AS n FROM employees WHERE id = 1"
            ),
        },
        Shows(one_column("badge-1")),
        refused_as="not_permitted",
        role="member",
    ),
]
