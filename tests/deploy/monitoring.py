"""The dashboards and alert rules of the manifests, and a Prometheus that evaluates them."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import yaml

from tests.deploy.manifests import DEPLOY, find

PORT = 8390
FOLDER = DEPLOY / "monitoring" / "dashboards"
_METRIC = re.compile(r"\b(?:ray|kube)_[a-z_]+")


def read_dashboards() -> list[Any]:
    """The dashboards, as the ConfigMap holds them."""
    data = find("gpu", "ConfigMap", "quorumsql-dashboards")["data"]
    return [json.loads(text) for text in data.values()]


def list_queries(dashboard: Any) -> Iterator[tuple[str, str]]:
    """``(title, PromQL)`` of each target, with Grafana's interval replaced by a minute."""
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"].replace("$__rate_interval", "1m")


def find_metrics(expression: str) -> set[str]:
    """The names of the metrics in a PromQL expression.

    >>> sorted(find_metrics("sum(rate(ray_a_total{b='c'}[1m])) / ray_d"))
    ['ray_a_total', 'ray_d']
    """
    return {*_METRIC.findall(expression)}


def write_rules(folder: Path) -> Path:
    """The groups of the PrometheusRule, as a file of rules."""
    file = folder / "rules.yaml"
    file.write_text(yaml.safe_dump(find("gpu", "PrometheusRule")["spec"]))
    return file


@contextmanager
def run_prometheus(targets: Sequence[str], folder: Path) -> Iterator[str]:
    """A Prometheus that scrapes ``targets`` each second; its URL."""
    scrape = {"job_name": "ray", "static_configs": [{"targets": list(targets)}]}
    config = {
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(write_rules(folder))],
        "scrape_configs": [scrape],
    }
    file = folder / "prometheus.yml"
    file.write_text(yaml.safe_dump(config))
    command = [
        "prometheus", f"--config.file={file}", f"--storage.tsdb.path={folder}/prometheus",
        f"--web.listen-address=127.0.0.1:{PORT}",
    ]  # fmt: skip
    with (folder / "prometheus.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        yield f"http://127.0.0.1:{PORT}"
    finally:
        process.terminate()
        process.wait()


def evaluate(url: str, query: str) -> list[Any]:
    """The samples of a PromQL query; none if Prometheus is not ready or a value is no number."""
    try:
        answer = httpx.get(f"{url}/api/v1/query", params={"query": query}, timeout=30).json()
    except (httpx.HTTPError, ValueError):
        return []
    assert answer["status"] == "success", answer
    return [sample for sample in answer["data"]["result"] if sample["value"][1] != "NaN"]
