"""The command line: settings, checks, and errors as one line that says what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from data.demo_erp import SETTINGS
from execution.postgres.embedded import EmbeddedServer
from nl2sql.errors import DatabaseUnavailable
from serve_app.cli.app import print_error
from serve_app.cli.context import CliContext
from serve_app.operations.checks.models import check_engine, check_weights
from serve_app.operations.checks.run import run_checks
from serve_app.settings import Settings, load_settings
from tests.conftest import ROOT
from tests.serve_app.cli.conftest import NOWHERE, Call, write_config, write_unreachable


@pytest.fixture
def nobody_listens(tmp_path: Path) -> Path:
    """Settings of a service that does not run."""
    return write_unreachable(tmp_path, serve={"port": 8199, "dashboard": False})


def test_a_missing_settings_file_is_one_line_and_a_remedy(tmp_path: Path, call: Call) -> None:
    code, out, error = call(tmp_path / "none.yaml", "status")
    assert (code, out) == (1, "")
    assert "Cannot read" in error
    assert "--config" in error


def test_where_there_is_no_settings_file_the_demos_are_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert CliContext(None).settings == load_settings(SETTINGS)
    assert "No quorumsql.yaml here: the demo's settings" in capsys.readouterr().err


def test_the_packaged_settings_are_those_of_the_repository() -> None:
    here, packaged = load_settings(ROOT / "quorumsql.yaml"), load_settings(SETTINGS)
    assert packaged.model_copy(update={"home": here.home}) == here
    assert packaged.home == Path("~/.cache/quorumsql").expanduser()


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        (["ask", "How many orders?"], 1, ["quorumsql serve"]),
        (["ask", "How many?", "--seed=-1"], 2, ["--seed"]),
        (["batch", "in", "out", f"--seed={2**31}"], 2, ["--seed"]),
        (["index", "build"], 1, ["Connection refused"]),
        (
            ["doctor"],
            1,
            [
                "database of shop",
                "Connection refused",
                "correct host and port",
                "quorumsql model pull",
                "port 8199: free",
            ],
        ),
        (["serve", "--stop"], 0, ["No service"]),
        (["model", "pull", "qwen2.5-coder-0.5b"], 1, ["qwen2.5-coder-0.5b-instruct"]),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else str(value),
)
def test_without_databases_and_service_commands_say_what_is_missing(
    nobody_listens: Path, arguments: list[str], code: int, expected: list[str], call: Call
) -> None:
    found, output, error = call(nobody_listens, *arguments)
    assert found == code
    assert [text for text in expected if text not in output + error] == []


AWAY = {**NOWHERE, "password_env": "NOT_SET_ANYWHERE"}
UNSET: dict[str, Any] = {"databases": {"shop": {"reader": AWAY, "indexer": AWAY}}}
OPEN: dict[str, Any] = {"serve": {"host": "0.0.0.0", "port": 8199}}
SERVE, BEHIND, ASK = ["serve"], ["serve", "--background"], ["ask", "q", "--in-process"]


@pytest.mark.parametrize(
    ("command", "sections", "said"),
    [
        *((command, UNSET, "NOT_SET_ANYWHERE is not set") for command in (SERVE, BEHIND, ASK)),
        *((command, OPEN, "anyone on the network") for command in (SERVE, BEHIND)),
    ],
    ids=str,
)
def test_what_is_wrong_is_told_before_minutes_of_preparation(
    tmp_path: Path, command: list[str], sections: dict[str, Any], said: str, call: Call
) -> None:
    config = write_config(tmp_path, **{"home": "home", "serve": {"port": 8199}, **sections})
    code, _, error = call(config, *command)
    assert (code, said in error) == (1, True)
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("said", ["", "connection refused."])
def test_an_error_says_its_cause_and_what_to_do_once(
    said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    print_error(DatabaseUnavailable("No answer.", database="shop", hint="Start it.", said=said))
    told = capsys.readouterr().err
    assert " ".join(told.split()) == f"error: No answer. {said} → Start it.".replace("  ", " ")


def test_checks_pass_where_all_is_there(
    demo_settings: Settings, embedded_server: EmbeddedServer
) -> None:
    statuses = {check.title: check.status for check in run_checks(demo_settings)}
    assert statuses["database of demo_erp, second"] == "ok"
    assert statuses["embedder"] == "ok"
    assert "memory" in statuses


def test_checks_tell_what_to_do(demo_settings: Settings) -> None:
    greedy = demo_settings.model.model_copy(update={"engine": "vllm", "kv_cache_gib": 10_000})
    # A port at which no service is up: what a running one uses is no reason to warn.
    away = demo_settings.serve.model_copy(update={"port": 9})
    *_, memory = check_engine(demo_settings.model_copy(update={"model": greedy, "serve": away}))
    assert (memory.status, "kv_cache_gib" in memory.remedy) == ("warning", True)
    weights = check_weights(demo_settings)
    assert (weights.status, weights.remedy.split()[:3]) == (
        "warning",
        ["quorumsql", "model", "pull"],
    )


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["run", "demo_erp", "--set", "bm52=false"], "did you mean 'bm25'"),
        (["run", "demo_erp", "--baseline", "fancy"], "There is: plain"),
        (["run", "demo_erp", "--evidence"], "has no evidence"),
        (["run", "nothing.json"], "nothing.json"),
        (["run", "demo_erp", "--k", "2,0"], "a number from 1 to 32, or adaptive"),
        (["retrieval", "demo_erp", "--variants", "dense"], "There are: cosine"),
        (["report", "."], "holds no run"),
    ],
    ids=" ".join,
)
def test_the_evaluation_says_what_is_wrong(
    arguments: list[str], expected: str, tmp_path: Path, call: Call
) -> None:
    runs = str(tmp_path / "runs")
    code, output, error = call(ROOT / "quorumsql.yaml", "eval", *arguments, "--output", runs)
    assert code == 1, output
    assert expected in " ".join((output + error).split())
