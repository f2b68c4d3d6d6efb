"""Routing by keywords and centroids, with vectors of two dimensions."""

from __future__ import annotations

import numpy as np
import pytest

from retrieval.module_router import ModuleRouter

EAST = np.array([1.0, 0.0], dtype=np.float32)
NORTH = np.array([0.0, 1.0], dtype=np.float32)
MODULES = {"sales": ["sales.orders"], "stock": ["stock.products"]}
VECTORS = {"sales.orders": EAST, "stock.products": NORTH}


@pytest.mark.parametrize(
    ("question", "vector", "modules", "confidences", "method"),
    [
        pytest.param("orders", EAST, ("sales",), (1.0,), "keywords+embedding", id="both_agree"),
        pytest.param("hello", NORTH, ("stock",), (0.5,), "embedding", id="embedding_alone"),
        pytest.param(
            "orders", NORTH, ("sales", "stock"), (0.5, 0.5), "keywords+embedding", id="both_near"
        ),
        pytest.param("in sales", -EAST, ("sales",), (0.5,), "keywords+embedding", id="opposite"),
    ],
)
def test_a_route_adds_keywords_and_similarity(
    question: str,
    vector: np.ndarray[tuple[int], np.dtype[np.float32]],
    modules: tuple[str, ...],
    confidences: tuple[float, ...],
    method: str,
) -> None:
    route = ModuleRouter(MODULES, VECTORS).route(question, vector)
    assert (route.modules, route.confidences, route.method) == (modules, confidences, method)


def test_three_modules_at_most() -> None:
    modules = {f"m{number}": [f"m{number}.t"] for number in range(5)}
    router = ModuleRouter(modules, {f"m{number}.t": EAST for number in range(5)})
    assert router.route("hello", EAST).modules == ("m0", "m1", "m2")


def test_without_modules_there_is_no_route() -> None:
    assert ModuleRouter({}, {}).route("orders", EAST).modules == ()
