"""Changed seeds without end, made by processes that may die over one."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence

from tests.oracle.tree_mutations import mutate_tree

_TIMEOUT_S = 300
_UNCHANGED = 0.05


def iterate_tree_mutations(
    seeds: Sequence[str], rng: random.Random, names: Sequence[str], *, batch: int = 300
) -> Iterator[tuple[str, str]]:
    """(kind, statement) without end: the seeds as they are now and then, else changed.

    ``names`` are those of tables and columns, for what is renamed. Made by a process of its own,
    since the deparser, which is C, ends it over some trees; the next one continues. Raises
    TimeoutExpired, RuntimeError when a batch is empty.
    """
    while True:
        work = {"seeds": list(seeds), "names": list(names), "seed": rng.randrange(2**31)}
        done = subprocess.run(
            [sys.executable, "-m", "tests.oracle.tree_batches"],
            input=json.dumps(work | {"count": batch}),
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
        # The last line of a process that died is cut.
        lines = done.stdout.split("\n")[:-1]
        if not lines:
            raise RuntimeError(f"no statement came of a batch: {done.stderr}")
        for line in lines:
            kind, statement = json.loads(line)
            yield kind, statement


def _write_batch() -> None:
    work = json.load(sys.stdin)
    rng, seeds = random.Random(work["seed"]), work["seeds"]
    for _ in range(work["count"]):
        seed = rng.choice(seeds)
        if rng.random() < _UNCHANGED:
            found = ("seed", seed)
        else:
            found = ("changed seed", mutate_tree(seed, seeds, rng, work["names"]))
        if found[1]:
            print(json.dumps(found), flush=True)


if __name__ == "__main__":
    _write_batch()
