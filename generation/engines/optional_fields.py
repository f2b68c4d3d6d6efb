"""Finds out which optional fields of a request a server accepts.

Servers with the same protocol refuse different parts of it with 400 or 422: several completions of
one prompt, a seed, log-probabilities, the continuation of an answer. Some name the refused field.
If none is named, the fields that were never accepted are left out one by one, then all together;
what helps is left out from then on.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from nl2sql.errors import QuorumError

_T = TypeVar("_T")


class RequestRefused(Exception):
    """A server refused a request because of its content; ``error`` is the error for the caller.

    ``field`` is the field that the server named, or empty.
    """

    def __init__(self, error: QuorumError, *, field: str = "") -> None:
        super().__init__(error.message)
        self.error = error
        self.field = field


class OptionalFields:
    """The optional fields that one server is known to accept or refuse."""

    def __init__(self) -> None:
        self._refused: frozenset[str] = frozenset()
        self._taken: frozenset[str] = frozenset()

    def refuse(self, field: str) -> None:
        """Leaves out the field from now on."""
        self._refused |= {field}

    def choose(self, wanted: frozenset[str]) -> frozenset[str]:
        """The fields that are not known to be refused."""
        return wanted - self._refused

    async def send(
        self, wanted: frozenset[str], request: Callable[[frozenset[str]], Awaitable[_T]]
    ) -> _T:
        """The result of ``request`` with as many of the ``wanted`` fields as the server accepts.

        Raises what ``request`` raises; for a refusal that no field caused, the refusal's ``error``.
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
