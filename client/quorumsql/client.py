"""The client that blocks: for scripts, notebooks and the command line.

An AsyncClient in an event loop of its own, which runs in a thread, so that it also works where a
loop runs already, as in a notebook.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import httpx

from quorumsql.async_client import AsyncClient
from quorumsql.errors import QuorumError

# The distribution that answers in process; the client alone must not need it.
_IN_PROCESS = "serve_app.in_process"

_P = ParamSpec("_P")
_T = TypeVar("_T")


def _block(
    method: Callable[Concatenate[AsyncClient, _P], Coroutine[Any, Any, _T]],
) -> Callable[Concatenate[Client, _P], _T]:
    """The method for callers without an event loop: returns when it is done."""

    @wraps(method)
    def call(self: Client, /, *arguments: _P.args, **options: _P.kwargs) -> _T:
        return self._run(method(self._client, *arguments, **options))

    return call


def _iterate(
    method: Callable[Concatenate[AsyncClient, _P], AsyncIterator[_T]],
) -> Callable[Concatenate[Client, _P], Iterator[_T]]:
    """The same for a stream; a caller that leaves the iterator ends the request."""

    @wraps(method)
    def call(self: Client, /, *arguments: _P.args, **options: _P.kwargs) -> Iterator[_T]:
        items: Any = method(self._client, *arguments, **options)
        end: Any = object()
        try:
            while (item := self._run(anext(items, end))) is not end:
                yield item
        finally:
            self._run(items.aclose())

    return call


class Client:
    """Asks a service; ``connect`` and ``open_local`` make one.

    Every method raises QuorumError; see ``quorumsql.errors``.
    """

    def __init__(self, opening: Coroutine[Any, Any, AsyncClient]) -> None:
        """Asks through the client that ``opening`` returns, in a loop of its own."""
        if not asyncio.iscoroutine(opening):
            raise TypeError("Use quorumsql.connect(url).")
        # With a factory the runner leaves the caller's current event loop as it is.
        runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        self._loop = runner.get_loop()

        def work() -> None:
            # At its end the runner lets streams that were left close.
            with runner:
                self._loop.run_forever()

        # As a daemon it does not keep a program alive that forgets to close the client.
        self._thread = threading.Thread(target=work, name="quorumsql", daemon=True)
        self._thread.start()
        try:
            self._client = self._run(opening)
        except BaseException:
            self._stop()
            raise

    ask = _block(AsyncClient.ask)
    stream = _iterate(AsyncClient.stream)
    translate = _block(AsyncClient.translate)
    export = _block(AsyncClient.export)
    rate = _block(AsyncClient.rate)
    withdraw_feedback = _block(AsyncClient.withdraw_feedback)
    review = _block(AsyncClient.review)
    finish_review = _block(AsyncClient.finish_review)
    exam = _block(AsyncClient.exam)
    try_fix = _block(AsyncClient.try_fix)
    status = _block(AsyncClient.status)
    me = _block(AsyncClient.me)
    databases = _block(AsyncClient.databases)
    tables = _block(AsyncClient.tables)
    table = _block(AsyncClient.table)
    definitions = _block(AsyncClient.definitions)
    suggestions = _block(AsyncClient.suggestions)
    run = _block(AsyncClient.run)
    conversations = _block(AsyncClient.conversations)
    conversation = _block(AsyncClient.conversation)
    delete_conversation = _block(AsyncClient.delete_conversation)
    delete_conversations = _block(AsyncClient.delete_conversations)

    @property
    def url(self) -> str:
        """The address of the service."""
        return self._client.url

    def close(self) -> None:
        """Closes the connections, and ends the thread."""
        if self._thread.is_alive():
            self._run(self._client.close())
            self._stop()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _run(self, work: Coroutine[Any, Any, _T]) -> _T:
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            # After Ctrl-C the service must not go on with the question.
            future.cancel()
            raise

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()


def connect(
    url: str | None = None,
    token: str | None = None,
    *,
    transport: httpx.AsyncBaseTransport | None = None,
) -> Client:
    """A client of the service at ``url``; default: QUORUMSQL_URL, or this machine's port 8000.

    ``token`` says who asks; default: QUORUMSQL_TOKEN. ``transport`` takes the place of the network.
    Nothing is sent before the first question.

    >>> with connect("http://localhost:8000") as client:
    ...     answer = client.ask("How many employees are active?")  # doctest: +SKIP
    """

    async def build() -> AsyncClient:
        return AsyncClient(url, token, transport=transport)

    return Client(build())


def open_local(config: str | Path | None = None, principal: str = "") -> Client:
    """A client that answers in this process: index, databases and model are opened here.

    ``config`` is the settings file (default: quorumsql.yaml in this folder), ``principal`` the name
    of who asks (default: the local one). Close the client to release the model. Raises QuorumError.
    """
    try:
        in_process = import_module(_IN_PROCESS)
    except ModuleNotFoundError as error:
        if error.name not in (_IN_PROCESS, _IN_PROCESS.partition(".")[0]):
            raise
        raise QuorumError(
            "To answer in this process the whole of QuorumSQL is needed.",
            hint="Install it: pip install quorumsql. Or connect to a service.",
        ) from error
    client: Client = in_process.open_client(config, principal)
    return client
