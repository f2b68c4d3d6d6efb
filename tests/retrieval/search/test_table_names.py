"""Tables that a question names, and modules."""

from __future__ import annotations

import pytest

from nl2sql.catalog import Catalog
from retrieval.search.keywords import read_words
from retrieval.search.modules import ModuleRouter, find_modules
from retrieval.search.table_names import TableNames
from retrieval.vocabulary.terms import BusinessTerm
from tests.fakes import SHOP, build_key, build_table


def build_names(*names: str) -> TableNames:
    return TableNames([build_table(name, "id integer") for name in names])


def test_a_table_is_named_if_all_words_of_its_name_occur() -> None:
    names = build_names("s.orders", "s.order_lines", "s.lines")
    found = names.find_named(read_words("Which lines has each order?"))
    assert found == {0: 1.0, 1: 1.0, 2: 1.0}
    assert names.find_named(read_words("orders")) == {0: 1.0}


def test_a_related_word_counts_less() -> None:
    found = build_names("s.vendors").find_named(read_words("Which suppliers are late?"))
    assert found == {0: 0.8}


def test_a_name_that_many_schemas_have_says_less() -> None:
    found = build_names("a.orders", "b.orders", "c.orders", "d.orders").find_named(
        read_words("orders")
    )
    assert found == dict.fromkeys(range(4), 0.5)


def test_tables_that_are_named_equally_well_come_in_their_order() -> None:
    kinds = "order invoice shipment contract ticket product supplier warehouse".split()
    names = build_names(*(f"s.{kind}s" for kind in kinds))
    named = names.find_named(read_words(", ".join(reversed(kinds))))
    meant = names.find_meant([BusinessTerm((), ((kind,),)) for kind in reversed(kinds)])
    assert list(named) == list(range(8))
    assert list(meant) == list(reversed(range(8)))


@pytest.mark.parametrize(
    ("name", "kind", "similarity"),
    [
        ("s.order_lines", ("order", "line"), 1.0),
        ("s.sales_order_lines", ("order", "line"), 2 / 3),
        # The schema has the missing word.
        ("sales.order_lines", ("sale", "order", "line"), 1.0),
        ("s.orders", ("order", "line"), 0.5),
        ("s.production_lines", ("order", "line"), 0.0),
        ("s.products", ("order", "line"), 0.0),
    ],
)
def test_kinds_are_compared_by_their_words(
    name: str, kind: tuple[str, ...], similarity: float
) -> None:
    term = BusinessTerm((("margin",),), (kind,))
    assert build_names(name).find_meant([term]).get(0, 0.0) == pytest.approx(0.8 * similarity)


def test_what_two_terms_mean_counts_more_than_what_one_means() -> None:
    names = build_names("s.orders", "s.customers")
    one = BusinessTerm((), (("order",), ("customer",)))
    two = BusinessTerm((), (("customer",),))
    first = names.find_meant([one])
    assert first[0] > first[1]
    both = names.find_meant([one, two])
    assert both[1] > both[0] == first[0]


def build_two_stars() -> Catalog:
    """One schema: fifteen tables around orders, fifteen around employees, one alone."""
    tables = [build_table("public.log", "id integer")]
    keys = []
    for hub in ("order", "employee"):
        tables.append(build_table(f"public.{hub}s", "id integer", key=("id",)))
        for number in range(14):
            tables.append(build_table(f"public.{hub}_part{number}", "hub_id integer"))
            keys.append(build_key(f"public.{hub}_part{number}(hub_id)", f"public.{hub}s(id)"))
    return Catalog("one", tuple(tables), tuple(keys))


def test_the_schemas_of_a_database_are_its_modules() -> None:
    modules = find_modules(SHOP)
    assert {name: len(tables) for name, tables in modules.items()} == {"sales": 4, "stock": 2}


def test_one_large_schema_falls_into_communities_named_by_their_commonest_word() -> None:
    catalog = build_two_stars()
    modules = find_modules(catalog)
    assert {name: len(tables) for name, tables in modules.items()} == {
        "order": 15,
        "employee": 15,
        "public": 1,
    }
    assert find_modules(catalog) == modules


MODULES = {"sales": [0, 1], "stock": [2]}
DOCUMENTS = [["order", "total"], ["customer"], ["product", "price"]]
ROUTER = ModuleRouter(MODULES, DOCUMENTS)


@pytest.mark.parametrize(
    ("question", "cosines", "modules", "confidences"),
    [
        ("orders", {0: 1.0}, ("sales",), (1.0,)),
        ("hello", {2: 0.8}, ("stock",), (0.4,)),
        ("orders", {2: 1.0}, ("sales", "stock"), (0.5, 0.5)),
        ("in sales", {}, ("sales",), (0.5,)),
        ("hello", {}, (), ()),
    ],
)
def test_a_route_is_half_words_and_half_similarity(
    question: str,
    cosines: dict[int, float],
    modules: tuple[str, ...],
    confidences: tuple[float, ...],
) -> None:
    route = ROUTER.route(*ROUTER.weigh(read_words(question), cosines))
    assert route.modules == modules
    assert route.confidences == pytest.approx(confidences, abs=1e-3)
