from __future__ import annotations

import pytest

from serve_app.service.trace_ids import make_trace_id, read_traceparent


@pytest.mark.parametrize(
    "header",
    [
        "",
        "00-0-0-01",
        f"00-{'0' * 32}-b7ad6b7169203331-01",
        f"00-{'A' * 32}-b7ad6b7169203331-01",
        f"00-{'a' * 32}-b7ad6b7169203331-01\n",
    ],
)
def test_an_invalid_header_has_no_trace_id(header: str) -> None:
    assert read_traceparent(header) == ""


def test_a_new_id_has_the_form_of_w3c() -> None:
    assert read_traceparent(f"00-{(new := make_trace_id())}-b7ad6b7169203331-01") == new
