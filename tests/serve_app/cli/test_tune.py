from __future__ import annotations

import pytest

from nl2sql.errors import SettingsError
from nl2sql.settings import ModelSettings
from serve_app.cli.tune import find_model


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (ModelSettings(), "qwen2.5-coder-0.5b-instruct"),
        (ModelSettings(name="qwen2.5-coder-1.5b-instruct"), "qwen2.5-coder-1.5b-instruct"),
        (
            ModelSettings(engine="openai", served_name="x", base_url="http://127.0.0.1/v1"),
            "qwen2.5-coder-0.5b-instruct",
        ),
    ],
)
def test_the_configured_model_is_tuned(
    settings: ModelSettings, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("serve_app.cli.tune.has_gpu", lambda: False)
    assert find_model(settings) == expected


def test_a_file_for_llama_cannot_be_tuned() -> None:
    with pytest.raises(SettingsError, match="cannot be trained"):
        find_model(ModelSettings(name="/models/x.gguf"))
