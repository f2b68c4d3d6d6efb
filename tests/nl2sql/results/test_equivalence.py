"""The table of results that count as equal, permutations, and bounds."""

from __future__ import annotations

import datetime as dt
import itertools
import operator
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

import pytest
import yaml
from hypothesis import given, settings, strategies as st

from nl2sql.results.cell_values import normalize_value
from nl2sql.results.equivalence import ComparedRows, are_equivalent
from tests.golden import load_text

Rows = Sequence[Sequence[object]]


@dataclass(frozen=True, slots=True)
class Case:
    """A pair of results of the table."""

    title: str
    why: str
    left: list[list[object]]
    right: list[list[object]]
    same: bool
    ordered: bool = False


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


_Loader.add_multi_constructor(
    "!", lambda loader, tag, node: _TYPES[f"!{tag}"](str(loader.construct_scalar(node)))
)
CASES = [Case(**fields) for fields in yaml.load(load_text("equivalence.yaml"), _Loader)]


@pytest.mark.parametrize("case", [pytest.param(case, id=case.title) for case in CASES])
def test_the_table_of_results(case: Case) -> None:
    left, right = case.left, case.right
    assert are_equivalent(left, right, ordered=case.ordered) is case.same
    assert are_equivalent(right, left, ordered=case.ordered) is case.same


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


def test_columns_of_equal_values_are_tried_in_all_orders_as_far_as_there_are_attempts() -> None:
    unit_rows = [tuple(int(row == column) for column in range(5)) for row in range(5)]
    assert are_equivalent(unit_rows, [row[::-1] for row in unit_rows[::2] + unit_rows[1::2]])
    assert are_equivalent(
        [(row,) * 40 for row in range(20)], [(row,) * 40 for row in range(20)][::-1]
    )
    twins = [(row % 5, row // 5) * 8 for row in range(25)]
    turned = [(row // 5, row % 5) * 4 + (row % 5, row // 5) * 4 for row in range(25)]
    assert not are_equivalent(twins, turned)


def test_a_result_without_columns_is_compared_by_its_rows() -> None:
    assert are_equivalent([(), ()], [(), ()])
    assert not are_equivalent([()], [(), ()])
