"""Which fields of a request a server takes: learned from its refusals, once.

Servers that speak the same protocol refuse different parts of it with 400 or 422: several
completions of one prompt, a seed, log-probabilities, the continuation of an answer. Some name the
field. Where none is named, the fields that never went through before are left out one by one, then
all together; what helps is left out from then on. Knows nothing of any server or field.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from nl2sql.errors import QuorumError

_T = TypeVar("_T")


class RequestRefused(Exception):
    """A server refused a request for what stands in it; ``error`` is what that means to a caller.

    ``field`` is the one that the server named; empty where it named none.
    """

    def __init__(self, error: QuorumError, *, field: str = "") -> None:
        super().__init__(error.message)
        self.error = error
        self.field = field


class OptionalFields:
    """What one server takes, as far as it is known."""

    def __init__(self) -> None:
        self._refused: frozenset[str] = frozenset()
        self._taken: frozenset[str] = frozenset()

    def refuse(self, field: str) -> None:
        """Never send the field again."""
        self._refused |= {field}

    def choose(self, wanted: frozenset[str]) -> frozenset[str]:
        """Those of the fields that are not known to be refused."""
        return wanted - self._refused

    async def send(
        self, wanted: frozenset[str], request: Callable[[frozenset[str]], Awaitable[_T]]
    ) -> _T:
        """What ``request`` returns with as many of the ``wanted`` fields as the server takes.

        Raises what it raises, and the error of a RequestRefused that no field is to blame for.
        """
        fields = self.choose(wanted)
        while True:
            try:
                answer = await request(fields)
            except RequestRefused as refusal:
                if refusal.field not in fields:
                    return await self._search(fields, request, refusal)
                fields -= {refusal.field}
            else:
                self._learn(wanted, fields)
                return answer

    async def _search(
        self,
        fields: frozenset[str],
        request: Callable[[frozenset[str]], Awaitable[_T]],
        refusal: RequestRefused,
    ) -> _T:
        suspects = sorted(fields - self._taken)
        tried = [fields - {suspect} for suspect in suspects]
        if len(suspects) > 1:
            tried.append(fields - {*suspects})
        for fewer in tried:
            try:
                answer = await request(fewer)
            except RequestRefused:
                continue
            self._learn(fields, fewer)
            return answer
        raise refusal.error from refusal

    def _learn(self, wanted: frozenset[str], taken: frozenset[str]) -> None:
        self._refused |= wanted - taken
        self._taken |= taken
