"""The dashboards and alert rules of the manifests."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tests.deploy.manifests import DEPLOY, find

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
