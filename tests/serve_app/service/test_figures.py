from __future__ import annotations

from serve_app.service.figures import Figures


def test_percentiles_are_those_of_the_latest_hundred_answers() -> None:
    figures = Figures()
    for ms in (9000.0, *(float(number) for number in range(1, 101))):
        figures.count("answered", ms)
    figures.count("timeout", None)
    told = figures.read()
    assert told.questions == {"answered": 101, "timeout": 1}
    duration = told.duration
    assert (duration.questions, duration.p50_ms, duration.p95_ms) == (100, 50.0, 95.0)


def test_without_questions_there_are_no_percentiles() -> None:
    duration = Figures().read().duration
    assert (duration.questions, duration.p50_ms, duration.p95_ms) == (0, None, None)
