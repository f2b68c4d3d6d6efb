"""``eval sizing``: its figures as a table and as JSON; its errors and those of ``eval engine``."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from serve_app.cli.app import app


def test_deployment_is_found() -> None:
    result = CliRunner().invoke(
        app, ["eval", "sizing", "--questions-per-minute", "60", "--p95", "8", "--json"]
    )

    (found,) = json.loads(result.output)
    assert (found["replicas"], found["engines"], found["gpus"]) == (1, 1, 1)
    assert found["p50_s"] < found["p95_s"] <= 8


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["sizing", "--engines", "2"], "given together"),
        (["engine", "--k", "0,8"], "--k takes positive numbers"),
    ],
)
def test_options_that_do_not_fit_are_an_error(arguments: list[str], said: str) -> None:
    result = CliRunner().invoke(app, ["eval", *arguments])
    assert result.exit_code == 2
    assert said in " ".join(result.output.split())
