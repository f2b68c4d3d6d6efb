"""Bit masks of the cards that a search may find: 100,000 tables take 12.5 kB in a query.

A mask is built once for the tables that a principal may see, and used for all of their questions.
The database tests the bit inside the search.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Mask:
    """Position n is bit n % 8 (lowest first) of byte n // 8 of ``bits``, as in ``get_bit``."""

    bits: bytes
    size: int
    count: int

    @property
    def positions(self) -> NDArray[np.int32]:
        """The positions that may be found, ascending."""
        bits = np.unpackbits(np.frombuffer(self.bits, dtype=np.uint8), bitorder="little")
        return np.asarray(np.flatnonzero(bits), dtype=np.int32)


def build_mask(positions: Iterable[int], size: int) -> Mask:
    """The mask of ``positions``, which are below ``size``.

    >>> mask = build_mask([0, 9], 12)
    >>> mask.bits.hex(), mask.count, mask.positions.tolist()
    ('0102', 2, [0, 9])
    """
    flags: NDArray[Any] = np.zeros(size, dtype=np.bool_)
    flags[np.fromiter(positions, dtype=np.int64)] = True
    return Mask(np.packbits(flags, bitorder="little").tobytes(), size, int(flags.sum()))
