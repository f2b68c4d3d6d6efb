"""What is said about the port, and by a service that starts in the background."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from nl2sql.errors import SettingsError
from serve_app.operations.background import check_port
from serve_app.settings.service import ServeSettings


def test_a_port_that_is_taken_is_told() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(SettingsError, match=rf"Port {port} .* taken by another") as caught:
            check_port(ServeSettings(port=port))
        assert "serve.port" in caught.value.hint
    check_port(ServeSettings(port=port))


def test_an_address_of_another_machine_is_told() -> None:
    with pytest.raises(SettingsError, match="assign"):
        check_port(ServeSettings(host="192.0.2.1"))


SERVICE = """
import os, signal, sys, time
from pathlib import Path
from nl2sql.errors import PolicyError, QuorumError
from serve_app.operations import background

way, home = sys.argv[1], Path(sys.argv[2])

def serve(tell_ready):
    print("preparing", flush=True)
    print("downloading", file=sys.stderr)
    if way == "refused":
        raise PolicyError("No such table.", hint="Correct it.")
    if way == "odd":
        error = PolicyError("No such table.")
        error.odd = lambda: None
        raise error
    if way == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    tell_ready()
    print("warned", file=sys.stderr)
    print("serving", flush=True)
    time.sleep(60)

try:
    background.spawn_service(home, serve)
    print(background.spawned_process(home) is not None)
    while "serving" not in (home / "serve.log").read_text():
        time.sleep(0.01)
    print(background.stop_spawned(home), background.stop_spawned(home))
except QuorumError as error:
    print(type(error).__name__, error.message, error.hint)
    print(background.spawned_process(home))
"""


@pytest.mark.parametrize(
    ("way", "told", "logged"),
    [
        ("well", ["preparing", "True", "True False"], "warned\nserving"),
        ("refused", ["preparing", "PolicyError No such table. Correct it.", "None"], ""),
        ("odd", ["preparing", "Unavailable", "None"], ""),
        ("killed", ["preparing", "Unavailable", "None"], ""),
    ],
)
def test_the_command_shows_how_the_service_starts_and_why_it_fails(
    way: str, told: list[str], logged: str, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", SERVICE, way, str(tmp_path / "home"), "serve", "--background"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    lines = done.stdout.splitlines()
    assert [line.startswith(start) for line, start in zip(lines, told, strict=True)] == [True] * 3
    assert done.stderr.startswith("downloading\n")
    assert ("No such table." in done.stderr) == (way == "odd")
    assert (tmp_path / "home" / "serve.log").read_text().strip() == logged
