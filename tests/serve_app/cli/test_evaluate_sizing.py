"""``eval sizing``: its figures as a table and as JSON; its errors and those of ``eval engine``."""

from __future__ import annotations

import json

from typer.testing import CliRunner

from serve_app.cli.app import app


def test_deployment_is_found() -> None:
    result = CliRunner().invoke(
        app, ["eval", "sizing", "--questions-per-minute", "60", "--p95", "8", "--json"]
    )

    (found,) = json.loads(result.output)
    assert (found["replicas"], found["engines"], found["gpus"]) == (1, 1, 1)
    assert found["p50_s"] < found["p95_s"] <= 8
    assert found["refused_share"] <= 0.01


def test_given_deployment_is_predicted() -> None:
    options = "--replicas 1 --engines 1 --engine openvino-0.5b-2-cores".split()

    result = CliRunner().invoke(app, ["eval", "sizing", "--questions-per-minute", "5", *options])

    assert "OpenVINO, two cores of an AMD EPYC" in " ".join(result.output.split())


def test_engines_alone_are_an_error() -> None:
    result = CliRunner().invoke(app, ["eval", "sizing", "--engines", "2"])

    assert result.exit_code == 2
    assert "given together" in result.output


def test_loads_of_an_engine_are_positive_numbers() -> None:
    result = CliRunner().invoke(app, ["eval", "engine", "--k", "0,8"])

    assert result.exit_code == 2
    assert "--k takes positive numbers" in " ".join(result.output.split())
