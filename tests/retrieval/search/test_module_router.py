"""Routing by words and nearest cards."""

from __future__ import annotations

import pytest

from retrieval.search.keywords import read_words
from retrieval.search.modules import ModuleRouter

MODULES = {"sales": [0, 1], "stock": [2]}
DOCUMENTS = [["order", "total"], ["customer"], ["product", "price"]]
ROUTER = ModuleRouter(MODULES, DOCUMENTS)


@pytest.mark.parametrize(
    ("question", "cosines", "modules", "confidences", "method"),
    [
        ("orders", {0: 1.0}, ("sales",), (1.0,), "keywords+embedding"),
        ("hello", {2: 0.8}, ("stock",), (0.4,), "embedding"),
        ("orders", {2: 1.0}, ("sales", "stock"), (0.5, 0.5), "keywords+embedding"),
        ("in sales", {}, ("sales",), (0.5,), "keywords"),
        ("hello", {}, (), (), "none"),
    ],
)
def test_a_route_is_half_words_and_half_similarity(
    question: str,
    cosines: dict[int, float],
    modules: tuple[str, ...],
    confidences: tuple[float, ...],
    method: str,
) -> None:
    route = ROUTER.route(ROUTER.weigh(read_words(question), cosines))
    assert (route.modules, route.method) == (modules, method)
    assert route.confidences == pytest.approx(confidences, abs=1e-3)


def test_a_synonym_routes_too_but_less() -> None:
    own = ROUTER.weigh(read_words("customers"), {}).words
    related = ROUTER.weigh(read_words("clients and products"), {}).words
    assert own.tolist() == [1.0, 0.0]
    assert 0 < related[0] < related[1]


def test_the_nearest_card_of_a_module_counts() -> None:
    evidence = ROUTER.weigh(read_words("hello"), {0: 0.2, 1: 0.6, 2: -0.5})
    assert evidence.nearest.tolist() == pytest.approx([0.6, 0.0])


def test_three_modules_at_most() -> None:
    router = ModuleRouter({f"m{number}": [number] for number in range(5)}, [["order"]] * 5)
    route = router.route(router.weigh(read_words("orders"), {}))
    assert route.modules == ("m0", "m1", "m2")


def test_without_modules_there_is_no_route() -> None:
    router = ModuleRouter({}, [])
    assert router.route(router.weigh(read_words("orders"), {})).modules == ()
