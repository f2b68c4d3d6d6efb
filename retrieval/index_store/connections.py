"""What the stores beside the index need of it: its connections."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from psycopg import AsyncConnection


class Connections(Protocol):
    """Gives connections to the index's database."""

    def connection(self) -> AbstractAsyncContextManager[AsyncConnection[Any]]:
        """One of the pool, given back at the end. Raises IndexUnavailable."""
        ...
