"""Metrics through Ray Serve, which exports them for Prometheus with those of its own."""

from __future__ import annotations

import threading
import time
from typing import Any

from ray.serve import metrics

from serve_app.service.metrics import METRICS, Metric

# Ray forgets a gauge that is not set within two of its report intervals, which are at least 1 s.
_REFRESH_S = 1.0


class RayMeter:
    """See ``Meter``. Ray adds the tags deployment, replica and application."""

    def __init__(self) -> None:
        self._metrics = {metric.name: _build(metric) for metric in METRICS}
        self._gauges: dict[str, float] = {
            metric.name: 0 for metric in METRICS if metric.kind == "gauge"
        }
        threading.Thread(target=self._keep_gauges, name="metrics", daemon=True).start()

    def record(self, metric: Metric, value: float, tags: tuple[str, ...] = ()) -> None:
        """See ``Meter.record``."""
        named = dict(zip(metric.tags, tags, strict=True))
        found = self._metrics[metric.name]
        match metric.kind:
            case "counter":
                found.inc(value, tags=named)
            case "histogram":
                found.observe(value, tags=named)
            case "gauge":
                self._gauges[metric.name] = value
                found.set(value, tags={})

    def _keep_gauges(self) -> None:
        while True:
            for name, value in self._gauges.items():
                self._metrics[name].set(value, tags={})
            time.sleep(_REFRESH_S)


def _build(metric: Metric) -> Any:
    match metric.kind:
        case "counter":
            return metrics.Counter(metric.name, metric.description, metric.tags)
        case "histogram":
            return metrics.Histogram(
                metric.name, metric.description, list(metric.boundaries), metric.tags
            )
        case "gauge":
            return metrics.Gauge(metric.name, metric.description, metric.tags)
