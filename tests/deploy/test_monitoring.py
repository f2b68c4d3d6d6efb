"""Dashboards and alert rules: their form, their metrics, and when alerts fire."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from serve_app.service.metrics import METRICS
from tests.deploy.manifests import find
from tests.deploy.monitoring import (
    find_metrics,
    list_queries,
    read_dashboards,
    write_rules,
)

ALERTS = Path(__file__).parent / "alerts.yaml"
_SUFFIXES = {
    "counter": ("_total",),
    "gauge": ("",),
    "histogram": ("_bucket", "_sum", "_count"),
}
needs_promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="needs promtool (Debian: prometheus)"
)


def promtool(folder: Path, *arguments: str) -> None:
    done = subprocess.run(
        ["promtool", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_all_that_the_service_measures_is_shown_under_its_name() -> None:
    """But for repairs, which are for a look at single questions."""
    names = {
        metric.name: {f"ray_{metric.name}{suffix}" for suffix in _SUFFIXES[metric.kind]}
        for metric in METRICS
    }
    queries = [query for dashboard in read_dashboards() for _, query in list_queries(dashboard)]
    rules = find("gpu", "PrometheusRule")["spec"]["groups"][0]["rules"]
    used = set().union(*map(find_metrics, [*queries, *(rule["expr"] for rule in rules)]))
    own = {name for name in used if name.startswith("ray_quorumsql_")}
    assert own <= set().union(*names.values())
    shown = {name for name, exported in names.items() if exported & own}
    assert names.keys() - shown == {"quorumsql_repairs"}


@needs_promtool
def test_prometheus_accepts_the_rules(tmp_path: Path) -> None:
    promtool(tmp_path, "check", "rules", str(write_rules(tmp_path)))


@needs_promtool
def test_alerts_fire_when_something_is_wrong_and_not_otherwise(tmp_path: Path) -> None:
    write_rules(tmp_path)
    shutil.copy(ALERTS, tmp_path)
    promtool(tmp_path, "test", "rules", ALERTS.name)
    rules = find("gpu", "PrometheusRule")["spec"]["groups"][0]["rules"]
    tested = ALERTS.read_text()
    assert all(f"alertname: {rule['alert']}\n" in tested for rule in rules)
