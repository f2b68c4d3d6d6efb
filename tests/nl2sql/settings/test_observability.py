from __future__ import annotations

import pytest
from pydantic import ValidationError

from nl2sql.settings.observability import ObservabilitySettings


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("localhost:4318", "it must look like"),
        ("https://me:secret@collector.example.com/v1/traces", "OTEL_EXPORTER_OTLP_HEADERS"),
    ],
)
def test_an_endpoint_is_an_address_without_secrets(url: str, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        ObservabilitySettings(traces_endpoint=url)


def test_nothing_is_sent_by_default() -> None:
    settings = ObservabilitySettings()
    assert (settings.traces_endpoint, settings.log_questions) == ("", False)
