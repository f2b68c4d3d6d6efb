"""What does not start says so, in an error of ours, and leaves nothing behind."""

from __future__ import annotations

import pytest
import ray

from nl2sql.errors import EngineUnavailable, Unavailable
from serve_app.composition.wiring import Wiring
from serve_app.operations.background import is_ready, service_url
from serve_app.ray.starting import connect_ray
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


@pytest.mark.timeout(600)
def test_an_engine_that_cannot_start_is_told(wiring: Wiring) -> None:
    with (
        pytest.raises(Unavailable, match=r"did not start: The model cannot be read\.$"),
        serving(wiring, engine=BrokenEngine),
    ):
        pass
    assert not ray.is_initialized()
    assert not is_ready(service_url(wiring.settings))
