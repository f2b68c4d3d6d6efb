"""A connection that is held inside a with statement, for readers of values."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol


class _Closable(Protocol):
    def close(self) -> None: ...


class HeldConnection:
    """Closes ``_connection``, which the subclass opens in ``__enter__``, when the block ends."""

    _connection: _Closable | None = None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
