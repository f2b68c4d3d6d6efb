from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from generation.tuning.packing import IGNORED, Encoded, pack_examples

_IDS = st.lists(st.integers(0, 3), min_size=1, max_size=6).map(tuple)
_EXAMPLES = st.lists(st.builds(Encoded, _IDS, _IDS), max_size=12)


def test_the_common_beginning_is_computed_once() -> None:
    one = Encoded((5, 6, 7, 1), (2, 3))
    two = Encoded((5, 6, 7, 8, 1), (4,))
    (pack,) = pack_examples([two, one], most_tokens=100, most_branches=8)
    assert pack.ids == (5, 6, 7, 1, 2, 3, 8, 1, 4)
    assert pack.positions == (0, 1, 2, 3, 4, 5, 3, 4, 5)
    assert pack.branches == (0, 0, 0, 1, 1, 1, 2, 2, 2)
    learned = [label for label in pack.labels if label != IGNORED]
    assert learned == [2, 3, 4]
    assert pack.labels == (IGNORED,) * 3 + (2, 3, IGNORED, IGNORED, 4, IGNORED)
    assert (pack.examples, pack.learned) == (2, 3)


def test_equal_prompts_keep_their_last_token_apart() -> None:
    (pack,) = pack_examples(
        [Encoded((5, 6), (1,)), Encoded((5, 6), (2,))], most_tokens=100, most_branches=8
    )
    assert pack.ids == (5, 6, 1, 6, 2)
    assert pack.labels == (IGNORED, 1, IGNORED, 2, IGNORED)


@given(_EXAMPLES, st.integers(1, 30), st.integers(1, 4))
def test_every_example_is_in_one_pack_as_it_is_alone(
    examples: list[Encoded], most_tokens: int, most_branches: int
) -> None:
    found = []
    for pack in pack_examples(examples, most_tokens=most_tokens, most_branches=most_branches):
        assert pack.examples <= most_branches
        assert pack.examples == 1 or len(pack.ids) <= most_tokens
        rows = list(zip(pack.ids, pack.positions, pack.branches, pack.labels, strict=True))
        start = [row for row in rows if row[2] == 0]
        for number in range(1, pack.examples + 1):
            seen = [*start, *(row for row in rows if row[2] == number)]
            assert [position for _, position, _, _ in seen] == list(range(len(seen)))
            ids = [token for token, *_ in seen]
            learned = [at for at, row in enumerate(seen) if row[3] != IGNORED]
            # Each learned token follows the one at which it is the label.
            assert [ids[at + 1] for at in learned] == [seen[at][3] for at in learned]
            assert learned == list(range(learned[0], len(seen) - 1))
            found.append(Encoded(tuple(ids[: learned[0] + 1]), tuple(ids[learned[0] + 1 :])))
    assert sorted(found, key=repr) == sorted(examples, key=repr)
