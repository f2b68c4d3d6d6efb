"""Connections over real sockets: half a head, nothing at all, too many, too long."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator

import pytest

from serve_app.http.connections import BoundedProtocol
from tests.serve_app.served import build_app, serve

HALF = b"GET /healthz HTTP/1.1\r\nHost: loc"
WHOLE = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


class Impatient(BoundedProtocol):
    head_timeout_s = 0.3


class Narrow(BoundedProtocol):
    head_timeout_s = 60
    most_connections = 3


@pytest.fixture
def impatient() -> Iterator[tuple[str, int]]:
    with serve(build_app(), http=Impatient) as url:
        yield read_address(url)


def read_address(url: str) -> tuple[str, int]:
    host, _, port = url.removeprefix("http://").partition(":")
    return host, int(port)


def connect(address: tuple[str, int], sent: bytes = b"") -> socket.socket:
    connection = socket.create_connection(address, timeout=10)
    connection.sendall(sent)
    return connection


def can_send(connection: socket.socket, data: bytes, *, times: int, pause_s: float = 0) -> bool:
    """Whether the other end keeps listening."""
    try:
        for _ in range(times):
            connection.sendall(data)
            time.sleep(pause_s)
    except OSError:
        return False
    return True


def read_answer(connection: socket.socket) -> bytes:
    """The whole answer of ``/healthz``."""
    answer = b""
    while not answer.endswith(b"}"):
        received = connection.recv(65_536)
        assert received, answer
        answer += received
    return answer


def is_closed(connection: socket.socket) -> bool:
    """Waits until something comes: the end, or an answer."""
    try:
        return connection.recv(65_536) == b""
    except ConnectionResetError:
        return True


@pytest.mark.parametrize("sent", [b"", b"\r\n", b"G", HALF])
def test_half_a_head_is_given_up(impatient: tuple[str, int], sent: bytes) -> None:
    with connect(impatient, sent) as connection:
        assert is_closed(connection)


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"GET /healthz HTTP/1.1\r\n", b""),
        (b"PUT /docs HTTP/1.1\r\nHost: evil.io\r\nContent-Length: 60000\r\n\r\n", b" 421 "),
    ],
    ids=["head", "body after its answer"],
)
def test_drops_do_not_stretch_the_deadline(
    impatient: tuple[str, int], head: bytes, status: bytes
) -> None:
    with connect(impatient, head) as connection:
        if status:
            assert status in connection.recv(65_536)
        assert not can_send(connection, b"a: b\r\n", times=200, pause_s=0.02)


def test_between_requests_a_connection_may_rest(impatient: tuple[str, int]) -> None:
    with connect(impatient, WHOLE) as connection:
        assert b"alive" in read_answer(connection)
        time.sleep(0.4)
        connection.sendall(WHOLE)
        assert b"alive" in read_answer(connection)


def test_a_body_is_never_read_as_the_next_request(impatient: tuple[str, int]) -> None:
    head = b"PUT /docs HTTP/1.1\r\nHost: evil.io\r\nContent-Length: %d\r\n\r\n" % len(WHOLE)
    with connect(impatient, head) as connection:
        assert b" 421 " in connection.recv(65_536)
        time.sleep(0.1)
        connection.sendall(WHOLE + b"GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n")
        answer = b""
        while b" 404 " not in answer:
            received = connection.recv(65_536)
            assert received, answer
            answer += received
        assert b"alive" not in answer


def test_a_head_without_end_is_given_up() -> None:
    with (
        serve(build_app(), http=BoundedProtocol) as url,
        connect(read_address(url), b"GET /healthz HTTP/1.1\r\n") as connection,
    ):
        assert not can_send(connection, b"a: " + b"b" * 1000 + b"\r\n", times=20_000)


def test_of_too_many_the_oldest_half_gives_way() -> None:
    with serve(build_app(), http=Narrow) as url:
        address = read_address(url)
        halves = []
        for count in range(6):
            halves.append(connect(address, HALF))
            time.sleep(0.05)
            if count >= 3:
                assert is_closed(halves[count - 3])
        with connect(address, WHOLE) as connection:
            assert b"alive" in read_answer(connection)
        assert is_closed(halves[3])
        for half in halves:
            half.close()
