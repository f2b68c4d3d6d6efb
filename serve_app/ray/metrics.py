"""Metrics through Ray Serve, which exports them for Prometheus with those of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from ray.serve import metrics

from nl2sql.cache_counts import read_lookups
from serve_app.service.metrics import CACHE_LOOKUPS, METRICS, Metric

# Ray forgets a gauge that is not set within two of its report intervals, which are at least 1 s.
_REFRESH_S = 1.0


class RayMeter:
    """See ``Meter``. Ray adds the tags deployment, replica and application."""

    def __init__(self) -> None:
        own = [metric for metric in METRICS if metric is not CACHE_LOOKUPS]
        self._metrics = {metric.name: _build(metric) for metric in own}
        self._gauges: dict[str, float] = {
            metric.name: 0 for metric in own if metric.kind == "gauge"
        }
        start_repeating(self._refresh)

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

    def _refresh(self) -> None:
        for name, value in self._gauges.items():
            self._metrics[name].set(value, tags={})


class CacheReporter:
    """Reports the cache lookups of this replica's process."""

    def __init__(self) -> None:
        self._counter = _build(CACHE_LOOKUPS)
        self._reported: dict[tuple[str, str], int] = {}
        start_repeating(self._report)

    def _report(self) -> None:
        for key, lookups in read_lookups().items():
            if new := lookups - self._reported.get(key, 0):
                self._counter.inc(new, tags=dict(zip(CACHE_LOOKUPS.tags, key, strict=True)))
                self._reported[key] = lookups


def start_repeating(work: Callable[[], None]) -> None:
    """Calls ``work`` every second in a thread, as long as the process lives."""

    def repeat() -> None:
        while True:
            work()
            time.sleep(_REFRESH_S)

    threading.Thread(target=repeat, name="metrics", daemon=True).start()


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
