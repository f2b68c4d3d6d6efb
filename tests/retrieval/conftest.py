"""The demo as principals of its policy see it."""

from __future__ import annotations

import pytest

from serve_app.composition.wiring import Wiring
from tests.conftest import ROOT


@pytest.fixture
def guarded_wiring(wiring: Wiring) -> Wiring:
    """The wiring, with the demo's own policy over the demo."""
    policy = ROOT / "data" / "demo_erp" / "policy.yaml"
    databases = dict(wiring.settings.databases)
    databases["demo_erp"] = databases["demo_erp"].model_copy(update={"policy": policy})
    settings = wiring.settings.model_copy(update={"databases": databases})
    return Wiring(settings, wiring.socket_folder)
