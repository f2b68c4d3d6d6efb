"""Starts and ends the process that runs OpenVINO GenAI, and talks to it.

The two share a socket pair that no other process can reach. The process ends when this one does
(see ``openvino_process.py``).
"""

from __future__ import annotations

import asyncio
import itertools
import json
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from generation.engines.choice import check_processor, choose_properties, read_cpu_flags
from nl2sql.deadline import NEVER, Deadline
from nl2sql.errors import EngineUnavailable

_PROGRAM = Path(__file__).with_name("openvino_process.py")
_END_S = 10.0
_DEATH_S = 1.0
# It writes after each step. The longest takes 3 s on slow cores that do nothing else.
_MOST_SILENCE_S = 120.0
_START_S = 600.0
_MOST_LINE_BYTES = 1 << 24


class EngineDied(Exception):
    """The process ended before it had answered."""


@dataclass(frozen=True, slots=True)
class OpenVinoArguments:
    """``cache_tokens`` is the room for all sequences, ``slots`` how many run at a time."""

    folder: Path
    cache_tokens: int
    slots: int
    threads: int

    def render(self, flags: frozenset[str]) -> bytes:
        """The line of JSON that the program reads; ``flags`` are the processor's."""
        return (
            json.dumps(
                {
                    "folder": str(self.folder),
                    "cache_tokens": self.cache_tokens,
                    "slots": self.slots,
                    "properties": choose_properties(flags, self.threads),
                }
            ).encode()
            + b"\n"
        )


class OpenVinoServer:
    """One running process, and the requests that wait for it."""

    def __init__(
        self, process: subprocess.Popen[bytes], log: IO[bytes], connection: socket.socket
    ) -> None:
        self._process = process
        self._log = log
        self._connection = connection
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Queue[dict[str, Any] | None]] = {}
        self._writer: asyncio.StreamWriter | None = None
        self._reading: asyncio.Task[None] | None = None
        self._opening = asyncio.Lock()
        # The requests that it owes a message, and until when it may take to write any.
        self._owed: set[int] = set()
        self._patience = NEVER

    @property
    def is_running(self) -> bool:
        """Whether the process runs and, if it owes an answer, has written within two minutes."""
        return self._process.poll() is None and not self._is_silent

    @property
    def _is_silent(self) -> bool:
        return bool(self._owed) and self._patience.has_passed

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    async def sample(self, body: Mapping[str, Any]) -> AsyncGenerator[dict[str, Any]]:
        """The messages for a request, until its ``k`` sequences end; cancelled when left early.

        Raises EngineDied.
        """
        number, has_ended = next(self._numbers), False
        with self._wait(number) as queue:
            # Each sequence is a request of its own for the library, with a number of its own.
            await self._send({"id": number, "first": number << 16, **body})
            try:
                while not has_ended:
                    message = await self._receive(queue)
                    has_ended = _ends(message)
                    yield message
            finally:
                if not has_ended and self.is_running:
                    with suppress(EngineDied):
                        await self._send({"id": number, "cancel": True})

    async def count_running(self) -> int:
        """The sequences that it works on. Raises EngineDied."""
        number = next(self._numbers)
        with self._wait(number) as queue:
            await self._send({"id": number})
            return int((await self._receive(queue))["running"])

    def wait_for_death(self) -> None:
        """Waits up to a second, because a dying process closes its socket before it ends."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_DEATH_S)

    async def disconnect(self) -> None:
        """Closes the socket, whereupon the process ends."""
        if self._reading is not None:
            self._reading.cancel()
            with suppress(asyncio.CancelledError):
                await self._reading
        if self._writer is not None:
            self._writer.close()
        self._connection.close()

    def stop(self) -> None:
        """Waits for the end of the process; kills it if it does not end within 10 s."""
        self._connection.close()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()

    @contextmanager
    def _wait(self, number: int) -> Iterator[asyncio.Queue[dict[str, Any] | None]]:
        """The queue of a request, for as long as it waits."""
        self._waiting[number] = asyncio.Queue()
        try:
            yield self._waiting[number]
        finally:
            del self._waiting[number]

    async def _send(self, message: Mapping[str, Any]) -> None:
        async with self._opening:
            if self._writer is None:
                reader, self._writer = await asyncio.open_connection(
                    sock=self._connection, limit=_MOST_LINE_BYTES
                )
                self._reading = asyncio.create_task(self._read(reader))
        if self._reading is None or self._reading.done():
            raise EngineDied
        if not self._owed:
            self._patience = Deadline.after(_MOST_SILENCE_S)
        self._owed.add(message["id"])
        self._writer.write(json.dumps(message).encode() + b"\n")

    async def _receive(self, queue: asyncio.Queue[dict[str, Any] | None]) -> dict[str, Any]:
        while not self._is_silent:
            with suppress(TimeoutError):
                message = await asyncio.wait_for(queue.get(), self._patience.left_s)
                if message is None:
                    break
                return message
        raise EngineDied

    async def _read(self, reader: asyncio.StreamReader) -> None:
        try:
            async for line in reader:
                message = json.loads(line)
                self._patience = Deadline.after(_MOST_SILENCE_S)
                if _ends(message):
                    self._owed.discard(message["id"])
                if (queue := self._waiting.get(message["id"])) is not None:
                    queue.put_nowait(message)
        except (OSError, ValueError):  # ValueError: a line cut off by its death
            pass
        finally:
            for queue in self._waiting.values():
                queue.put_nowait(None)


def _ends(message: Mapping[str, Any]) -> bool:
    """Whether nothing more comes to this request: only samples have several messages."""
    return bool(message.get("ends", True))


def start_server(arguments: OpenVinoArguments) -> OpenVinoServer:
    """Blocks until the model is loaded. Raises EngineUnavailable with OpenVINO's reason."""
    flags = read_cpu_flags()
    check_processor(flags)
    check_package()
    log = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
    ours, theirs = socket.socketpair()
    process = subprocess.Popen(
        # Isolated mode: no module of the working folder may replace a library.
        [sys.executable, "-I", str(_PROGRAM), str(theirs.fileno())],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        pass_fds=(theirs.fileno(),),
        # This process handles Ctrl-C.
        start_new_session=True,
    )
    theirs.close()
    ours.settimeout(_START_S)
    try:
        ours.sendall(arguments.render(flags))
        if _read_line(ours):
            ours.settimeout(None)
            return OpenVinoServer(process, log, ours)
    except TimeoutError:
        process.kill()
    except OSError:
        pass  # it has ended, and its log says why
    status = process.wait()
    reason = read_reason(log) or f"it ended with status {status}"
    log.close()
    ours.close()
    raise EngineUnavailable(
        f"OpenVINO does not start with {arguments.folder.name}: {reason}.",
        hint="`quorumsql doctor` checks memory and weights.",
    )


def _read_line(connection: socket.socket) -> bytes:
    """The first line; nothing follows it before a request. Empty if the process ended."""
    line = b""
    while not line.endswith(b"\n"):
        read = connection.recv(1)
        if not read:
            return b""
        line += read
    return line


def read_reason(log: IO[bytes]) -> str:
    """The last line of the log that is no place in OpenVINO's source.

    >>> import io
    >>> read_reason(io.BytesIO(b"RuntimeError: Exception from core.cpp:84:\\nNo such model.\\n\\n"))
    'No such model'
    """
    log.seek(0)
    lines = [line.strip() for line in log.read().decode(errors="replace").splitlines()]
    told = [line for line in lines if line and "Exception from" not in line]
    return told[-1].rstrip(".") if told else ""


def check_package() -> None:
    """Raises EngineUnavailable if OpenVINO GenAI is not installed."""
    if find_spec("openvino_genai") is None:
        raise EngineUnavailable(
            "OpenVINO GenAI is not installed.",
            hint="Install the package openvino-genai, or set model.engine.",
        )
