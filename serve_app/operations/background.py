"""The service's address on this machine, and the background process that runs it.

Does not import Ray, which takes seconds.
"""

from __future__ import annotations

import errno
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import psutil

from nl2sql.errors import SettingsError, Unavailable
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


def spawn_service(config: Path, home: Path) -> None:
    """Starts ``quorumsql serve`` in a new session and stores its process id under ``home``."""
    home.mkdir(parents=True, exist_ok=True)
    log = home / "serve.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            # -P: modules in the current folder must not shadow ours.
            [sys.executable, "-P", "-m", "serve_app.cli", "--config", str(config), "serve"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    _pid_file(home).write_text(str(process.pid))


def wait_until_ready(url: str, home: Path) -> None:
    """Returns when the spawned service is ready, however long that takes.

    Raises Unavailable, with the end of its log, if the service ends before that.
    """
    while spawned_process(home) is not None:
        if is_ready(url):
            return
        time.sleep(0.5)
    log = home / "serve.log"
    tail = "\n".join(log.read_text(errors="replace").splitlines()[-15:])
    raise Unavailable(f"The service did not start:\n{tail}", hint=f"\nThe whole log is {log}.")


def spawned_process(home: Path) -> psutil.Process | None:
    """The process of the background service, if it runs."""
    try:
        process = psutil.Process(int(_pid_file(home).read_text()))
        alive = process.is_running() and process.status() != psutil.STATUS_ZOMBIE
        return process if alive and "serve_app.cli" in process.cmdline() else None
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
