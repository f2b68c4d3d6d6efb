"""Texts that the guard refuses whoever asks: each written once, for all three databases.

They are about the shop of ``tests/fixtures``, without a policy, so that nothing but the guard's own
rules can be why. What a principal's policy withholds is in the tables beside this folder, where
each attack is shown to work first.
"""

from __future__ import annotations

from tests.attacks.refusals import functions, names, nodes, statements, texts
from tests.attacks.refusals.refusal import Refusal

REFUSALS: tuple[Refusal, ...] = tuple(
    refusal
    for module in (statements, nodes, functions, names, texts)
    for refusal in module.REFUSALS
)
