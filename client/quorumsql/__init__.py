"""Ask a QuorumSQL service from Python.

>>> import quorumsql
>>> client = quorumsql.connect("http://localhost:8000")
>>> client.ask("How many employees are active?").to_pandas()  # doctest: +SKIP

``connect`` asks over HTTP; so does ``AsyncClient``, for programs with an event loop. ``open_local``
answers in this process, with the distribution ``quorumsql`` installed. What may be raised is in
``quorumsql.errors``, what is returned in ``quorumsql.contract``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quorumsql.async_client import AsyncClient
    from quorumsql.client import Client, connect, open_local
    from quorumsql.errors import QuorumError

__all__ = ["AsyncClient", "Client", "QuorumError", "connect", "open_local"]

# Imported when they are asked for: the command line reads the errors alone, and starts at once.
_MODULES = {"AsyncClient": "async_client", "QuorumError": "errors"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES.get(name, 'client')}"), name)
