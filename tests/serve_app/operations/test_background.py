"""What is said about the port before the service starts."""

from __future__ import annotations

import socket

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
