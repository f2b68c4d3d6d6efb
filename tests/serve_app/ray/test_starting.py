"""Ray that does not start says so, in an error of ours."""

from __future__ import annotations

import pytest
import ray

from nl2sql.errors import Unavailable
from serve_app.ray.starting import connect_ray


def test_what_ray_says_is_in_the_error() -> None:
    # Ray refuses options that are for a cluster of its own when it is to join one.
    with pytest.raises(Unavailable, match=r"Ray did not start: When connecting"):
        connect_ray("127.0.0.1:1", num_cpus=1)
    assert not ray.is_initialized()
