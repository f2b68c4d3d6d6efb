"""What does not start says so, in an error of ours, and leaves nothing behind."""

from __future__ import annotations

from typing import Any

import pytest
import ray

from nl2sql.errors import EngineUnavailable, Unavailable
from serve_app.composition.wiring import Wiring
from serve_app.operations.background import is_ready, service_url
from serve_app.ray.starting import LOCAL, connect_ray
from tests.serve_app.echo_engine import EchoEngine
from tests.serve_app.ray.ray_service import serving


class BrokenEngine(EchoEngine):
    """Cannot be opened."""

    def __init__(self) -> None:
        raise EngineUnavailable("The model cannot be read.")


def test_what_ray_says_is_in_the_error() -> None:
    # Ray refuses options that are for a cluster of its own when it is to join one.
    with pytest.raises(Unavailable, match=r"Ray did not start: When connecting"):
        connect_ray("127.0.0.1:1", num_cpus=1)
    assert not ray.is_initialized()


@ray.remote
class Callee:
    """Answers."""

    def answer(self) -> int:
        """Its answer."""
        return 42


@ray.remote
class Caller:
    """Asks another actor."""

    async def ask(self, other: Any) -> int:
        """What the other says."""
        return int(await other.answer.remote())


@pytest.mark.timeout(300)
def test_ray_calls_itself_without_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    connect_ray(LOCAL, num_cpus=2)
    try:
        asked = Caller.remote().ask.remote(Callee.remote())  # type: ignore[attr-defined]
        assert ray.get(asked, timeout=60) == 42
    finally:
        ray.shutdown()


@pytest.mark.timeout(600)
def test_an_engine_that_cannot_start_is_told(wiring: Wiring) -> None:
    with (
        pytest.raises(Unavailable, match=r"did not start: The model cannot be read\.$"),
        serving(wiring, engine=BrokenEngine),
    ):
        pass
    assert not ray.is_initialized()
    assert not is_ready(service_url(wiring.settings))
