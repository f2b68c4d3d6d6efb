"""The table of results that count as equal, the rules of the original, permutations, and bounds."""

from __future__ import annotations

import datetime as dt
import itertools
import operator
import random
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import overload
from uuid import UUID

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.metrics.bird_scores import is_bird_match, soft_f1
from nl2sql.results import equivalence
from nl2sql.results.cell_values import normalize_value
from nl2sql.results.equivalence import ComparedRows, are_equivalent
from tests.golden import FIXTURES

Rows = Sequence[Sequence[object]]


@dataclass(frozen=True, slots=True)
class Case:
    """A pair of results of the table; ``bird`` and ``f1`` are None where nothing is said."""

    title: str
    why: str
    left: list[list[object]]
    right: list[list[object]]
    same: bool
    ordered: bool = False
    bird: bool | None = None
    f1: float | None = None


def _compute(expression: str) -> float:
    """``"0.1 + 0.2"`` as doubles have it."""
    left, sign, right = expression.split(" ")
    operators: dict[str, Callable[[float, float], float]] = {
        "+": operator.add,
        "/": operator.truediv,
    }
    return operators[sign](float(left), float(right))


class _Loader(yaml.SafeLoader):
    """YAML with the types of databases that it lacks."""


_TYPES: dict[str, Callable[[str], object]] = {
    "!decimal": Decimal,
    "!interval": lambda seconds: dt.timedelta(seconds=float(seconds)),
    "!time": dt.time.fromisoformat,
    "!uuid": UUID,
    "!float": _compute,
}


def _build_value(loader: _Loader, tag: str, node: yaml.ScalarNode) -> object:
    return _TYPES[f"!{tag}"](str(loader.construct_scalar(node)))


_Loader.add_multi_constructor("!", _build_value)


def _load_cases() -> list[Case]:
    with (FIXTURES / "equivalence.yaml").open(encoding="utf-8") as file:
        return [Case(**fields) for fields in yaml.load(file, _Loader)]


CASES = _load_cases()


@pytest.mark.parametrize("case", [pytest.param(case, id=case.title) for case in CASES])
def test_the_table_of_results(case: Case) -> None:
    left, right = case.left, case.right
    assert are_equivalent(left, right, ordered=case.ordered) is case.same
    assert are_equivalent(right, left, ordered=case.ordered) is case.same
    if case.bird is not None:
        assert is_bird_match(left, right) is case.bird
    if case.f1 is not None:
        assert soft_f1(left, right) == pytest.approx(case.f1, abs=5e-5)


def test_every_case_has_a_title_of_its_own_and_a_reason() -> None:
    assert len(CASES) >= 50
    assert len({case.title for case in CASES}) == len(CASES)
    assert all(case.why for case in CASES)


# The rules of test-suite-sql-eval, by the function of its exec_eval.py that holds each;
# docs/reference/result-comparison.md lists them. rule → (left, right, ordered, same)
UPSTREAM_RULES: dict[str, tuple[Rows, Rows, bool, bool]] = {
    "result_eq: two empty results are equal": ([], [], False, True),
    "result_eq: two empty results are equal under an order": ([], [], True, True),
    "result_eq: another number of rows": ([(1,)], [(1,), (1,)], False, False),
    "result_eq: empty and not": ([], [(1,)], False, False),
    "result_eq: another number of columns": ([(1, 1)], [(1,)], False, False),
    "quick_rej: rows are multisets of cells": ([(1, 2)], [(1, 1)], False, False),
    "quick_rej: under an order, row by row": ([(1, 2), (3, 4)], [(4, 3), (2, 1)], True, False),
    "result_eq: any permutation of columns": ([(1, 2, 3)], [(3, 1, 2)], False, True),
    "result_eq: any permutation of columns under an order": (
        [(1, "a"), (2, "b")],
        [("a", 1), ("b", 2)],
        True,
        True,
    ),
    "result_eq: one permutation for all rows": ([(1, 2), (3, 4)], [(1, 2), (4, 3)], False, False),
    "get_constraint_permutation: a column is used once": (
        [(1, 2), (2, 1), (1, 1)],
        [(1, 1), (2, 2), (1, 1)],
        False,
        False,
    ),
    "multiset_eq: any order of rows": ([(1,), (2,)], [(2,), (1,)], False, True),
    "multiset_eq: duplicates count": ([(1,), (1,), (2,)], [(1,), (2,), (2,)], False, False),
    "result_eq: row order counts under an order": ([(1,), (2,)], [(2,), (1,)], True, False),
    "Python's ==: NULL is itself": ([(None,)], [(None,)], False, True),
    "Python's ==: NULL is no zero and no text": ([(None,), (None,)], [(0,), ("",)], False, False),
    "Python's ==: 1 is 1.0": ([(1,)], [(1.0,)], False, True),
    "Python's ==: 1 is True": ([(1,)], [(True,)], False, True),
    "Python's ==: 1 is no text": ([(1,)], [("1",)], False, False),
    "Python's ==: the case of text counts": ([("a",)], [("A",)], False, False),
    "Python's ==: bytes are no text": ([(b"a",)], [("a",)], False, False),
    "exec_on_db: names of columns are never looked at": ([(1,)], [(1,)], False, True),
}


@pytest.mark.parametrize(
    ("left", "right", "ordered", "same"), UPSTREAM_RULES.values(), ids=UPSTREAM_RULES
)
def test_the_rules_of_the_original_hold(left: Rows, right: Rows, ordered: bool, same: bool) -> None:
    assert are_equivalent(left, right, ordered=ordered) is same


def _is_equivalent_by_permutations(left: Rows, right: Rows, ordered: bool) -> bool:
    """All permutations, one after the other: what ``are_equivalent`` stands for."""
    normal = [tuple(map(normalize_value, row)) for row in left]
    other = [tuple(map(normalize_value, row)) for row in right]
    for order in itertools.permutations(range(len(right[0]))):
        permuted = [tuple(row[at] for at in order) for row in other]
        if normal == permuted if ordered else Counter(normal) == Counter(permuted):
            return True
    return False


CELLS = st.sampled_from([0, 1, -1, -2, None, "a", "1", 0.5, True, Decimal("0.5")])


@st.composite
def _pairs(draw: st.DrawFn) -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
    """A result, and the same permuted, with no cell or one drawn anew."""
    width = draw(st.integers(1, 5))
    left = draw(st.lists(st.tuples(*[CELLS] * width), min_size=1, max_size=8))
    order = draw(st.permutations(range(width)))
    right = [tuple(row[at] for at in order) for row in draw(st.permutations(left))]
    if draw(st.booleans()):
        row, column = draw(st.integers(0, len(right) - 1)), draw(st.integers(0, width - 1))
        changed = list(right[row])
        changed[column] = draw(CELLS)
        right[row] = tuple(changed)
    return left, right


@settings(deadline=None)  # a busy machine may pause for longer than any of these takes
@given(pair=_pairs(), ordered=st.booleans())
def test_it_gives_what_trying_all_permutations_gives(
    pair: tuple[Rows, Rows], ordered: bool
) -> None:
    expected = _is_equivalent_by_permutations(*pair, ordered)
    assert are_equivalent(*pair, ordered=ordered) is expected
    if expected and not ordered:
        left, right = map(ComparedRows, pair)
        assert left.profile == right.profile


@settings(deadline=None)
@given(
    rows=st.lists(st.tuples(*[st.integers(0, 3)] * 12), max_size=20),
    seed=st.integers(0, 1000),
)
def test_a_permutation_of_twelve_columns_is_found(rows: Rows, seed: int) -> None:
    assert are_equivalent(rows, _permute(rows, seed))


def _permute(rows: Rows, seed: int) -> Rows:
    if not rows:
        return rows
    chance = random.Random(seed)
    order = list(range(len(rows[0])))
    chance.shuffle(order)
    permuted = [tuple(row[at] for at in order) for row in rows]
    chance.shuffle(permuted)
    return permuted


def _build_cycles(*lengths: int) -> list[tuple[int, ...]]:
    """Rows with two ones each, which join the columns to rings: no column stands out."""
    width = sum(lengths)
    rows = []
    for start, length in zip(itertools.accumulate(lengths, initial=0), lengths, strict=False):
        for at in range(length):
            ones = {start + at, start + (at + 1) % length}
            rows.append(tuple(int(column in ones) for column in range(width)))
    return rows


def _build_products(size: int) -> list[tuple[int, ...]]:
    return [tuple(row * step % (size + 1) for step in range(1, size + 1)) for row in range(1, size)]


def _build_unit_rows(size: int) -> list[tuple[int, ...]]:
    return [tuple(int(row == column) for column in range(size)) for row in range(size)]


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(
    "rows",
    [
        pytest.param(_build_unit_rows(12), id="ones_on_the_diagonal_12"),
        pytest.param(_build_unit_rows(16), id="ones_on_the_diagonal_16"),
        pytest.param(_build_cycles(12), id="ring_of_12"),
        pytest.param(_build_cycles(16), id="ring_of_16"),
        pytest.param(_build_cycles(4, 4, 8), id="rings_of_4_4_8"),
        pytest.param(_build_cycles(40), id="ring_of_40"),
        pytest.param(_build_products(12), id="products_12"),
        pytest.param(_build_products(16), id="products_16"),
        pytest.param([(row,) * 40 for row in range(20)], id="identical_40"),
        pytest.param([(row % 5, row // 5) * 8 for row in range(25)], id="grid_of_twins_16"),
    ],
)
def test_columns_that_look_alike_are_paired_soon(rows: Rows, seed: int) -> None:
    started = time.process_time()
    assert are_equivalent(rows, _permute(rows, seed))
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("left", "right"),
    [
        pytest.param(_build_cycles(12), _build_cycles(6, 6), id="rings_12"),
        pytest.param(_build_cycles(16), _build_cycles(8, 8), id="rings_16"),
        pytest.param(_build_cycles(4, 4, 8), _build_cycles(5, 3, 8), id="rings_of_other_lengths"),
        pytest.param(_build_cycles(40), _build_cycles(20, 20), id="rings_40"),
        pytest.param(
            _build_products(12),
            [(2, 1, *_build_products(12)[0][2:]), *_build_products(12)[1:]],
            id="two_cells_swapped_12",
        ),
        pytest.param(_build_unit_rows(16), _build_cycles(16), id="one_and_two_ones"),
    ],
)
def test_columns_that_look_alike_and_do_not_pair_end_soon(left: Rows, right: Rows) -> None:
    started = time.process_time()
    assert not are_equivalent(left, _permute(right, 1))
    assert time.process_time() - started < 2


def test_when_the_attempts_run_out_results_count_as_different(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Paired as they stand, the rings lie crosswise; it takes singling out to lay them straight.
    rows = _build_cycles(12)
    order = [0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11]
    permuted = [tuple(row[at] for at in order) for row in rows]
    assert are_equivalent(rows, permuted)
    monkeypatch.setattr(equivalence, "_MOST_ATTEMPTS", 0)
    assert not are_equivalent(rows, permuted)


def test_a_result_without_columns_is_compared_by_its_rows() -> None:
    assert are_equivalent([(), ()], [(), ()])
    assert not are_equivalent([()], [(), ()])


def test_rows_may_be_lists_or_tuples() -> None:
    assert are_equivalent([[1, "a"]], ((1, "a"),))


class _Generated(Sequence[tuple[int, str, float]]):
    """Rows made up when they are asked for, so that only the comparison takes memory."""

    def __init__(self, count: int, step: int, last: str = "") -> None:
        self._count = count
        self._step = step
        self._last = last

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, at: int) -> tuple[int, str, float]: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[tuple[int, str, float]]: ...
    def __getitem__(
        self, at: int | slice
    ) -> tuple[int, str, float] | Sequence[tuple[int, str, float]]:
        if isinstance(at, slice):
            raise TypeError("no slices")
        if not 0 <= at < self._count:
            raise IndexError(at)
        number = at * self._step % self._count
        text = self._last if self._last and at == self._count - 1 else f"name {number}"
        return number, text, number / 7

    def __iter__(self) -> Iterator[tuple[int, str, float]]:
        return (self[at] for at in range(self._count))


@pytest.mark.parametrize(
    ("step", "last", "ordered", "same"),
    [
        pytest.param(7, "", False, True, id="reordered"),
        pytest.param(7, "someone else", False, False, id="a_cell_changed"),
        pytest.param(1, "", True, True, id="in_order"),
        pytest.param(7, "", True, False, id="out_of_order"),
    ],
)
def test_large_results_take_no_memory_to_speak_of(
    step: int, last: str, ordered: bool, same: bool
) -> None:
    left, right = _Generated(20_000, 1), _Generated(20_000, step, last)
    tracemalloc.start()
    try:
        assert are_equivalent(left, right, ordered=ordered) is same
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()
