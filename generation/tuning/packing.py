"""Packs examples with the same beginning into one sequence, so that it is computed once.

Most prompts about a small database begin with the same schema. A pack is that beginning, then a
branch for each example: the rest of its prompt, and its query. A token sees the beginning and its
own branch before it, and its position is that in its own prompt. So every example gets the same
logits and gradients as alone, and Spider's prompts take a third of the tokens.

Knows nothing of torch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

IGNORED = -100
"""The label of a token after which nothing is learned."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """The ids of a prompt up to the query, and those of the query with its end."""

    prompt: tuple[int, ...]
    target: tuple[int, ...]

    @property
    def length(self) -> int:
        """The number of tokens of both."""
        return len(self.prompt) + len(self.target)


@dataclass(frozen=True, slots=True)
class Pack:
    """One sequence. All lists have its length.

    ``branches`` is 0 in the shared beginning and counts from 1 after it. ``labels`` is the id of
    the token that follows in the same branch where that belongs to a query, otherwise ``IGNORED``.
    """

    ids: tuple[int, ...]
    positions: tuple[int, ...]
    branches: tuple[int, ...]
    labels: tuple[int, ...]
    examples: int

    @property
    def learned(self) -> int:
        """The number of tokens that are learned."""
        return sum(label != IGNORED for label in self.labels)


def pack_examples(
    examples: Sequence[Encoded], *, most_tokens: int, most_branches: int
) -> list[Pack]:
    """Packs of at most so many tokens and branches; each example is in exactly one.

    Examples that begin alike come together. An example that is longer than ``most_tokens`` has a
    pack of its own.
    """
    return [
        _build(group) for group in _group(sorted(examples, key=_key), most_tokens, most_branches)
    ]


def _key(example: Encoded) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return example.prompt, example.target


def _group(
    examples: Sequence[Encoded], most_tokens: int, most_branches: int
) -> Iterator[list[Encoded]]:
    group: list[Encoded] = []
    for example in examples:
        joined = [*group, example]
        shared = count_shared(joined)
        apart = sum(each.length - shared for each in joined)
        # A branch with little in common costs more attention than it saves.
        worth = not group or shared * 2 >= len(example.prompt)
        if group and (not worth or len(joined) > most_branches or shared + apart > most_tokens):
            yield group
            joined = [example]
        group = joined
    if group:
        yield group


def count_shared(examples: Sequence[Encoded]) -> int:
    """The length of the common beginning of the prompts, without the last token of the shortest.

    That token stays in the branch, since the first token of its query is learned there.

    >>> one, two = Encoded((1, 2, 3), (9,)), Encoded((1, 2, 4, 5), (8,))
    >>> count_shared([one, two]), count_shared([one])
    (2, 2)
    """
    shortest = min(len(example.prompt) for example in examples) - 1
    first = examples[0].prompt
    for at in range(shortest):
        if any(example.prompt[at] != first[at] for example in examples):
            return at
    return shortest


def _build(group: Sequence[Encoded]) -> Pack:
    shared = count_shared(group)
    ids = list(group[0].prompt[:shared])
    positions = list(range(shared))
    branches = [0] * shared
    labels = [IGNORED] * shared
    for number, example in enumerate(group, 1):
        rest = example.prompt[shared:]
        ids += rest + example.target
        length = len(rest) + len(example.target)
        positions += range(shared, shared + length)
        branches += [number] * length
        labels += [IGNORED] * (len(rest) - 1) + list(example.target) + [IGNORED]
    return Pack(tuple(ids), tuple(positions), tuple(branches), tuple(labels), len(group))
