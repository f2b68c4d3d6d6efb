"""Names for sources and columns, chosen to be mistaken for something else."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence

from tests.oracle.grammar.dialect import Dialect

_ODD = ('"T"', '"select"', '"a b"', '"ü"', '"c""d"', "straße", '"C1"', "_0", "_cte1")


class Names:
    """Draws names that differ from those in ``taken``."""

    def __init__(self, dialect: Dialect, rng: random.Random, stored: Sequence[str]) -> None:
        """``stored`` are names of tables and columns of the database, as SQL."""
        self._dialect = dialect
        self._rng = rng
        self._stored = stored
        self._number = 0

    def restart(self) -> None:
        """Starts to number names from one again."""
        self._number = 0

    def draw(self, taken: Collection[str], *, plain: float = 0.5) -> str:
        """A fresh name, one of a function, one that the database stores, or an odd one."""
        roll = self._rng.random()
        name = ""
        if roll < plain:
            pass
        elif roll < plain + (1 - plain) * 0.5:
            name = self._rng.choice(self._dialect.dangerous)
        elif roll < plain + (1 - plain) * 0.85:
            name = self._rng.choice(self._stored)
        elif roll < plain + (1 - plain) * 0.95:
            name = self._rng.choice(_ODD)
        if not name or name in taken or name in self._dialect.keywords:
            self._number += 1
            name = f"t{self._number}"
        return name

    def draw_list(self, own: Sequence[str], count: int) -> list[str]:
        """New names for a source's first columns: ``own`` in another order, or drawn ones."""
        known = [name for name in own if name]
        if len(known) >= count > 1 and self._rng.random() < 0.3:
            return self._rng.sample(known, count)
        names: list[str] = []
        rest = set(own[count:])
        for _ in range(count):
            names.append(self.draw({*names, *rest}, plain=0.4))
        return names
