"""Which cards a search may find, as bits: 100,000 tables are 12.5 kB in a query.

Built once for what a principal may see and used for all of their questions, so that no question
does or sends anything that grows with the schema. The database tests the bit inside the search.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Mask:
    """``bits`` holds position n in bit n % 8 (lowest first) of byte n // 8, as get_bit counts."""

    bits: bytes
    size: int
    count: int

    @property
    def positions(self) -> NDArray[np.int32]:
        """The positions that may be found, ascending."""
        bits = np.unpackbits(np.frombuffer(self.bits, dtype=np.uint8), bitorder="little")
        return np.asarray(np.flatnonzero(bits), dtype=np.int32)


def build_mask(positions: Iterable[int], size: int) -> Mask:
    """The mask that lets ``positions`` (each below ``size``) be found.

    >>> mask = build_mask([0, 9], 12)
    >>> mask.bits.hex(), mask.count, mask.positions.tolist()
    ('0102', 2, [0, 9])
    """
    flags: NDArray[Any] = np.zeros(size, dtype=np.bool_)
    flags[np.fromiter(positions, dtype=np.int64)] = True
    return Mask(np.packbits(flags, bitorder="little").tobytes(), size, int(flags.sum()))
