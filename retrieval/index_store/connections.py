"""The connections that the stores share."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from psycopg import AsyncConnection


class Connections(Protocol):
    """Gives connections to the index's database."""

    def connection(self) -> AbstractAsyncContextManager[AsyncConnection[Any]]:
        """A connection of the pool, returned at the end. Raises IndexUnavailable."""
        ...
