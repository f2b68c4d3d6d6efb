"""Network namespaces as hosts: they reach one another, can be cut off, and are removed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.deploy.hosts import Host, Hosts, open_hosts, why_no_hosts

_LISTEN = """
import socket
with socket.create_server(("", 8000)) as server:
    print(flush=True)
    while True:
        server.accept()[0].close()
"""
_CONNECT = """
import socket, sys
socket.create_connection((sys.argv[1], 8000), timeout=1)
"""


@pytest.fixture(autouse=True)
def able() -> None:
    """Skips where there are no hosts."""
    if reason := why_no_hosts():
        pytest.skip(reason)


@pytest.fixture
def hosts() -> Iterator[Hosts]:
    with open_hosts() as opened:
        yield opened


def listen(host: Host) -> None:
    """Listens on the port of the host until the host is removed."""
    started = subprocess.Popen(
        host.wrap([sys.executable, "-c", _LISTEN]), stdout=subprocess.PIPE, start_new_session=True
    )
    assert started.stdout is not None
    started.stdout.readline()


def reaches(command: list[str]) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_the_network_between_hosts_can_be_cut(hosts: Hosts) -> None:
    one, two, three = (hosts.add() for _ in range(3))
    for host in (one, two):
        listen(host)

    def connects(source: Host, target: Host) -> bool:
        return reaches(source.wrap([sys.executable, "-c", _CONNECT, target.address]))

    assert connects(one, one)
    assert connects(one, two)
    with hosts.cut(one, [two]):
        assert not connects(one, two)
        assert not connects(two, one)
        assert connects(three, one)
        assert connects(three, two)
        assert reaches([sys.executable, "-c", _CONNECT, one.address])
    assert connects(one, two)
    assert connects(two, one)
