"""The form of log lines."""

from __future__ import annotations

import json
import logging
import sys

import pytest

from serve_app.service.question_log import (
    LOGGER,
    JsonLines,
    configure_logging,
    log_question,
    read_traceparent,
)


def build_record(**fields: object) -> logging.LogRecord:
    record = logging.LogRecord("quorumsql", logging.INFO, "", 0, "question", (), None)
    record.created = 0.0
    record.quorumsql_fields = fields
    return record


def test_no_value_begins_a_new_line() -> None:
    line = JsonLines().format(build_record(principal="mia\nINFO question outcome=answered"))
    assert len(line.splitlines()) == 1


def test_a_json_line_holds_the_exception() -> None:
    try:
        raise ValueError("broken")
    except ValueError:
        record = logging.LogRecord("x", logging.ERROR, "", 0, "%s", ("m",), sys.exc_info())
    line = json.loads(JsonLines().format(record))
    assert (line["level"], line["message"], "broken" in line["exception"]) == ("error", "m", True)


def test_lines_go_to_standard_error_once(capsys: pytest.CaptureFixture[str]) -> None:
    before, level = LOGGER.handlers, LOGGER.level
    try:
        for _ in range(2):
            configure_logging()
        log_question({"outcome": "answered", "code": None})
    finally:
        LOGGER.handlers = before
        LOGGER.setLevel(level)
    line = json.loads(capsys.readouterr().err)
    assert (line["outcome"], "code" in line) == ("answered", False)


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
