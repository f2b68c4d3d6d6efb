"""The service's address on this machine, and the background process that runs it.

Does not import Ray, which takes seconds.
"""

from __future__ import annotations

import errno
import os
import pickle
import signal
import socket
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import BinaryIO

import httpx
import psutil

from nl2sql.errors import QuorumError, SettingsError, Unavailable
from quorumsql.loopback import is_on_loopback
from serve_app.settings import Settings
from serve_app.settings.service import ServeSettings

# Requests that are being answered end first.
_STOP_S = 60.0


def service_url(settings: Settings) -> str:
    """The URL of the service for a client on this machine."""
    host = "127.0.0.1" if settings.serve.host in ("0.0.0.0", "::") else settings.serve.host
    return f"http://{host}:{settings.serve.port}"


def is_ready(url: str) -> bool:
    """Whether a QuorumSQL service answers at ``url`` and is ready for questions."""
    try:
        answer = httpx.get(f"{url}/readyz", timeout=10, trust_env=not is_on_loopback(url))
        return bool(answer.json()["ready"])
    except (httpx.HTTPError, ValueError, KeyError, TypeError):
        return False


def check_port(settings: ServeSettings) -> None:
    """Raises SettingsError if the service cannot listen on its port."""
    if problem := describe_port(settings.host, settings.port):
        raise SettingsError(
            f"Port {settings.port} of {settings.host}: {problem}.",
            hint="Stop that program, or set serve.port or serve.host.",
        )


def check_exposure(settings: Settings, *, is_exposed: bool) -> None:
    """Raises SettingsError if other machines could ask anonymously and this is not allowed.

    Nobody opens a service to the network by accident.
    """
    if is_exposed and not (settings.identity.needs_token or settings.serve.allow_anonymous):
        raise SettingsError(
            "The service would answer anyone on the network: it listens beyond this machine, and "
            "no principal has a token.",
            hint="Name a token under identity.principals.NAME.token_env, set identity.api_keys or "
            "identity.jwt, or set serve.allow_anonymous: true if a proxy in front of it "
            "authenticates clients.",
        )


def check_passwords(settings: Settings) -> None:
    """Raises SettingsError for a password that is not in the environment.

    A service opens all databases: without this it would fail after minutes of preparation.
    """
    for database in settings.databases.values():
        for connection in (database.reader, database.indexer or database.reader):
            connection.resolve()


def describe_port(host: str, port: int) -> str:
    """Why a server cannot listen there; empty if it can."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family) as probe:
            # As servers do, so that connections that are closing do not count.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            return "taken by another program"
        return error.strerror or str(error)
    return ""


Serve = Callable[[Callable[[], None]], None]
"""Starts and serves until it is stopped. Calls its argument when it is ready."""


def spawn_service(home: Path, serve: Serve) -> None:
    """Runs ``serve`` in a new process, whose id it stores under ``home``.

    Returns when it is ready: until then it writes to our standard output and standard error, then
    to ``serve.log``. Raises the QuorumError that ended it before that, Unavailable if it died.

    The process is a fork, so nothing is imported twice. This one must have no threads.
    """
    home.mkdir(parents=True, exist_ok=True)
    reading, writing = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        _run_detached(serve, home, open(writing, "wb"))  # noqa: SIM115 - closed when ready
        sys.exit()
    os.close(writing)
    _pid_file(home).write_text(str(pid))
    try:
        with open(reading, "rb") as told:
            outcome = told.read()
    except KeyboardInterrupt:
        os.kill(pid, signal.SIGTERM)
        os.waitpid(pid, 0)
        raise
    if not outcome:
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        raise Unavailable(
            f"The service ended before it was ready, with exit code {code}.",
            hint="What it said is above. -9 is often a lack of memory.",
        )
    if (error := pickle.loads(outcome)) is not None:
        os.waitpid(pid, 0)
        raise error


def _run_detached(serve: Serve, home: Path, told: BinaryIO) -> None:
    """Runs it in a session of its own, and tells when it is ready, or why it is not."""
    os.setsid()
    log = os.open(home / "serve.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)

    def tell(error: QuorumError | None) -> None:
        # Before its output goes to the log: an error that cannot be pickled is shown, too.
        outcome = pickle.dumps(error)
        for stream, number in ((sys.stdout, 1), (sys.stderr, 2)):
            stream.flush()
            os.dup2(log, number)
        with told:
            told.write(outcome)

    try:
        serve(partial(tell, None))
    except QuorumError as error:
        if told.closed:
            raise
        tell(error)


def spawned_process(home: Path) -> psutil.Process | None:
    """The process of the background service, if it runs."""
    try:
        process = psutil.Process(int(_pid_file(home).read_text()))
        alive = process.is_running() and process.status() != psutil.STATUS_ZOMBIE
        return process if alive and {"serve", "--background"} <= {*process.cmdline()} else None
    except (OSError, ValueError, psutil.Error):
        return None


def stop_spawned(home: Path) -> bool:
    """Stops the background service; False if none ran."""
    process = spawned_process(home)
    if process is None:
        return False
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(_STOP_S)
    except psutil.TimeoutExpired:
        for child in process.children(recursive=True):
            child.kill()
        process.kill()
        psutil.wait_procs([process], timeout=10)
    _pid_file(home).unlink(missing_ok=True)
    return True


def _pid_file(home: Path) -> Path:
    return home / "serve.pid"
