"""Joins between the tables that a question names."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from dataclasses import replace

import networkx as nx
import pytest

from nl2sql.catalog import Catalog, ForeignKey
from nl2sql.types import JoinPlan, SchemaContext, SchemaLink, ValueMatch
from retrieval.joins.planner import JoinGraph, plan_joins
from retrieval.linking.rules import link_by_rules
from tests.fakes import SHOP, build_context, build_key, build_table
from tests.retrieval.semantics.files import REVENUE

CONTEXT = build_context()
PEOPLE = build_table("s.people", "id integer", "name text", key=("id",))
LETTERS = build_table("s.letters", "reader_id integer", "author_id integer", "posted date")
POST = Catalog(
    "post",
    (PEOPLE, LETTERS),
    (
        build_key("s.letters(reader_id)", "s.people(id)"),
        build_key("s.letters(author_id)", "s.people(id)"),
    ),
    search_path=("s",),
)


def plan(*tables: str, context: SchemaContext = CONTEXT) -> JoinPlan:
    links = tuple(SchemaLink(table, table, "", 1.0) for table in tables)
    return plan_joins("", context, links)


def ask(question: str, context: SchemaContext) -> JoinPlan:
    links = link_by_rules(question, context)
    return plan_joins(question, context, links)


def test_two_tables_are_joined_by_their_key() -> None:
    joins = plan("sales.customers", "sales.orders")
    assert joins.tables == ("sales.customers", "sales.orders")
    assert joins.keys == SHOP.foreign_keys[:1]
    assert joins.skeleton == "FROM customers\nJOIN orders ON orders.customer_id = customers.id"


def test_the_tables_of_a_definition_are_joined() -> None:
    assert ask("turnover", CONTEXT) == JoinPlan()
    context = build_context(definitions=(replace(REVENUE, phrase="turnover"),))
    assert set(ask("turnover", context).tables) == {"sales.order_lines", "sales.orders"}


_EQUAL_WAYS = """
from nl2sql.catalog import ForeignKey
from retrieval.joins.planner import JoinGraph
pairs = [(a, b) for a in range(9) for b in (a * 2 % 9, a * 5 % 9 + 1) if a != b]
keys = [ForeignKey(f"k{a}", f"s.t{a}", (f"b{b}",), f"s.t{b}", ("id",)) for a, b in pairs]
graph = JoinGraph([f"s.t{number}" for number in range(60)], keys)
print([sorted(graph.connect([f"s.t{n}", f"s.t{n + 3}", f"s.t{n + 5}"])) for n in range(4)])
"""


def test_of_equal_ways_every_process_takes_the_same() -> None:
    """Python orders sets of texts anew in each process."""
    found = set()
    for seed in "1234":
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", _EQUAL_WAYS]
        found.add(subprocess.run(command, env=environment, check=True, capture_output=True).stdout)
    assert len(found) == 1


def test_a_composite_key_joins_on_every_column() -> None:
    assert plan("sales.order_lines", "stock.returns").skeleton == (
        "FROM order_lines\n"
        "JOIN returns ON returns.order_id = order_lines.order_id "
        "AND returns.line_no = order_lines.line_no"
    )


def test_the_tables_between_are_joined_too() -> None:
    joins = plan("sales.customers", "stock.products")
    assert joins.tables == (
        "sales.customers",
        "sales.orders",
        "sales.order_lines",
        "stock.products",
    )
    assert joins.skeleton.count("JOIN") == 3


def test_a_table_that_hangs_together_with_nothing_is_left_out() -> None:
    island = build_table("sales.weather", "day date")
    catalog = Catalog("shop", (*SHOP.tables, island), SHOP.foreign_keys, SHOP.search_path)
    context = build_context(catalog)
    joins = plan("sales.weather", "sales.customers", "sales.orders", context=context)
    assert joins.tables == ("sales.customers", "sales.orders")


@pytest.mark.parametrize(
    ("tables", "planned"),
    [((), ()), (("sales.orders",), ("sales.orders",))],
    ids=["none", "one"],
)
def test_fewer_than_two_tables_need_no_join(
    tables: tuple[str, ...], planned: tuple[str, ...]
) -> None:
    assert plan(*tables) == JoinPlan(tables=planned)


def test_a_value_names_its_table_and_a_reference_does_not() -> None:
    value = SchemaLink("germany", "sales.customers", "country", 0.95, "value")
    orders = SchemaLink("orders", "sales.orders", "", 1.0)
    reference = SchemaLink("product", "sales.order_lines", "product_id", 0.7)
    joins = plan_joins("", CONTEXT, (orders, value, reference))
    assert set(joins.tables) == {"sales.customers", "sales.orders"}


# -- several ways ------------------------------------------------------------------------------


def build_ring(*inferred: int) -> SchemaContext:
    """Six tables in a ring; the keys numbered ``inferred`` are not declared."""
    tables = tuple(
        build_table(f"s.t{at}", "id integer", "next_id integer", key=("id",)) for at in range(6)
    )
    keys = tuple(
        replace(build_key(f"s.t{at}(next_id)", f"s.t{(at + 1) % 6}(id)"), inferred=at in inferred)
        for at in range(6)
    )
    return build_context(Catalog("ring", tables, keys, search_path=("s",)))


def test_the_shortest_way_round_a_ring_joins() -> None:
    joins = plan("s.t0", "s.t2", context=build_ring())
    assert joins.tables == ("s.t0", "s.t1", "s.t2")


def test_inferred_keys_join_only_where_declared_ones_cost_more() -> None:
    joins = plan("s.t0", "s.t3", context=build_ring(0))
    assert joins.tables == ("s.t0", "s.t5", "s.t4", "s.t3")
    assert not any(key.inferred for key in joins.keys)


# -- roles -------------------------------------------------------------------------------------


def test_the_role_that_the_question_names_is_joined() -> None:
    context = build_context(POST)
    assert ask("letters by reader, with people", context).skeleton.endswith(
        "ON letters.reader_id = people.id"
    )


def test_two_roles_join_the_table_twice() -> None:
    joins = ask("letters with people as author and as reader", build_context(POST))
    assert joins.tables[0] in ("s.letters", "s.people")
    context = build_context(POST, tables=("s.letters", "s.people"))
    links = (SchemaLink("letters", "s.letters", "", 1.0), SchemaLink("people", "s.people", "", 1.0))
    both = plan_joins("author and reader of letters", context, links)
    assert both.tables == ("s.letters", "s.people", "s.people")
    assert both.skeleton == (
        "FROM letters\n"
        "JOIN people AS author ON letters.author_id = author.id\n"
        "JOIN people AS reader ON letters.reader_id = reader.id"
    )


def test_a_table_is_joined_to_itself_under_the_role_that_the_question_names() -> None:
    joins = ask("each employee and the manager", CONTEXT)
    assert joins.tables == ("sales.employees", "sales.employees")
    assert joins.skeleton == (
        "FROM employees\nJOIN employees AS manager ON employees.manager_id = manager.id"
    )
    assert ask("each employee", CONTEXT).skeleton == ""


def test_a_role_called_like_a_table_gets_a_number() -> None:
    boss = build_table("s.manager", "id integer", key=("id",))
    staff = build_table("s.staff", "id integer", "manager_id integer", key=("id",))
    keys = (build_key("s.staff(manager_id)", "s.staff(id)"),)
    context = build_context(
        Catalog("x", (staff, boss), keys, search_path=("s",)), tables=("s.staff", "s.manager")
    )
    links = (SchemaLink("staff", "s.staff", "", 1.0),)
    joins = plan_joins("staff and manager", context, links)
    assert joins.skeleton.endswith("JOIN staff AS manager_2 ON staff.manager_id = manager_2.id")


# -- what the skeleton is --------------------------------------------------------------------


def test_nothing_is_joined_that_is_not_in_sight() -> None:
    context = replace(
        build_context(tables=("sales.orders", "sales.customers")),
        foreign_keys=SHOP.foreign_keys,
        values=(ValueMatch("bolt", "stock.products", "name", "Bolt", 1.0),),
    )
    joins = ask("orders and returns of customers who bought a bolt from an employee", context)
    assert set(joins.tables) <= {"sales.orders", "sales.customers"}


def draw_graph(draw: random.Random) -> JoinGraph:
    """4 to 14 tables, and up to three keys each, onto itself and parallel ones among them."""
    tables = [f"s.t{at}" for at in range(draw.randint(4, 14))]
    keys = [
        ForeignKey(
            f"k{at}",
            draw.choice(tables),
            ("other_id",),
            draw.choice(tables),
            ("id",),
            inferred=draw.random() < 0.3,
        )
        for at in range(draw.randint(len(tables), 3 * len(tables)))
    ]
    return JoinGraph(tables, keys)


@pytest.mark.parametrize("seed", range(20))
def test_every_way_is_a_tree_between_the_terminals(seed: int) -> None:
    draw = random.Random(seed)
    join_graph = draw_graph(draw)
    # The most that hang together.
    tables = max((sorted(component) for component in join_graph.components()), key=len)
    terminals = draw.sample(tables, min(len(tables), draw.randint(2, 5)))
    if len(terminals) < 2:
        return
    way = join_graph.connect(terminals)
    tree = nx.Graph(
        (at, table)
        for at in way
        for table in (join_graph.keys[at].table, join_graph.keys[at].target)
    )
    assert nx.is_tree(tree)
    assert set(terminals) <= set(tree)
    assert all(node in terminals for node in tree if tree.degree(node) == 1)


@pytest.mark.parametrize(("keys", "is_only"), [(1, True), (2, False)])
def test_a_second_way_at_the_same_cost_is_noticed(keys: int, is_only: bool) -> None:
    parallel = [ForeignKey(f"k{at}", "s.a", (f"{at}_id",), "s.b", ("id",)) for at in range(keys)]
    join_graph = JoinGraph(["s.a", "s.b"], parallel)
    way = join_graph.connect(["s.a", "s.b"])
    assert join_graph.is_only_way(["s.a", "s.b"], way) is is_only


def test_a_second_way_is_noticed_though_the_sum_of_its_costs_is_rounded_otherwise() -> None:
    pairs = ("a", "c"), ("a", "d"), ("c", "b"), ("d", "b")
    keys = [
        ForeignKey("k", f"s.{one}", (f"{other}_id",), f"s.{other}", ("id",), inferred=True)
        for one, other in pairs
    ]
    join_graph = JoinGraph(["s.a", "s.b", "s.c", "s.d"], keys, named=(keys[0], keys[3]))
    way = join_graph.connect(["s.a", "s.b"])
    assert not join_graph.is_only_way(["s.a", "s.b"], way)
