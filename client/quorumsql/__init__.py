"""Ask a QuorumSQL service from Python.

>>> import quorumsql
>>> client = quorumsql.connect("http://localhost:8000")
>>> client.ask("How many employees are active?").to_pandas()  # doctest: +SKIP

``connect`` and ``connect_async`` ask over HTTP. ``open_local`` and ``open_local_async`` answer in
this process, with the distribution ``quorumsql`` installed. All four give the same interface. What
may be raised is in ``quorumsql.errors``, what is returned in ``quorumsql.contract``.
"""

from quorumsql.async_client import AsyncClient
from quorumsql.client import Client
from quorumsql.errors import QuorumError
from quorumsql.opening import connect, connect_async, open_local, open_local_async

__all__ = [
    "AsyncClient",
    "Client",
    "QuorumError",
    "connect",
    "connect_async",
    "open_local",
    "open_local_async",
]
