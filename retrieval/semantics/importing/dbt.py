"""dbt as cubes: ``manifest.json`` or ``semantic_manifest.json``, which ``dbt parse`` writes.

A metric is a measure of the semantic model whose measures it reads; so is a measure that is not a
metric as it is. The fields are those of https://schemas.getdbt.com/dbt/manifest/v12.json, and
MetricFlow's documentation says what they mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from nl2sql.sql.names import enquote
from retrieval.semantics.importing.models import Cube
from retrieval.semantics.sql_parts import UnusableDefinition

_Json = Mapping[str, Any]
_DIMENSION = re.compile(r"\{\{\s*Dimension\(\s*['\"](\w+?)__(\w+)['\"]\s*\)\s*\}\}")
_TABLE = ("schema_name", "alias")
_TABLES = ("model", "seed", "snapshot", "source")


def read_dbt(manifest: _Json) -> list[Cube]:
    """All semantic models with the metrics, and the tables with their descriptions.

    Metrics that belong to no semantic model make one more.
    """
    read = (*_Project(manifest).read_models(), *_read_tables(manifest))
    return [Cube.model_validate(each) for each in read]


def _read_tables(manifest: _Json) -> Iterator[dict[str, Any]]:
    """What dbt builds or reads, by its id; accepted values end the description of a column."""
    nodes = {**(manifest.get("nodes") or {}), **(manifest.get("sources") or {})}
    accepted: dict[tuple[Any, Any], str] = {}
    for node in nodes.values():
        test = node.get("test_metadata") or {}
        if test.get("name") == "accepted_values":
            listed = ", ".join(f"'{value}'" for value in test["kwargs"]["values"])
            accepted[node.get("attached_node"), node.get("column_name")] = f"one of {listed}"
    for key, node in nodes.items():
        if node["resource_type"] not in _TABLES:
            continue
        columns = [
            {"name": name, "description": "; ".join(filter(None, texts))}
            for name, column in (node.get("columns") or {}).items()
            if any(texts := (column.get("description"), accepted.get((key, name))))
        ]
        if columns or node.get("description"):
            table = node.get("alias") or node.get("identifier") or node["name"]
            yield {
                "name": key,
                "sql_table": enquote(node["schema"], table),
                "description": node.get("description"),
                "dimensions": columns,
            }


def _by_name(values: Any) -> dict[str, _Json]:
    """The semantic manifest has a list, the other one a mapping by id."""
    listed = values.values() if isinstance(values, Mapping) else values or ()
    return {each["name"]: each for each in listed}


def _find_primary(model: _Json) -> _Json:
    primary = (each for each in model.get("entities") or () if each["type"] == "primary")
    return next(primary, {})


def _describe(misfit: Exception) -> str:
    if isinstance(misfit, LookupError):
        return f"it refers to {misfit}, which is not there"
    return "it refers to itself" if isinstance(misfit, RecursionError) else str(misfit)


class _Project:
    """Members are plain values for ``Cube``."""

    def __init__(self, manifest: _Json) -> None:
        self._models = _by_name(manifest["semantic_models"])
        self._metrics = _by_name(manifest.get("metrics"))
        self._measures = {
            measure["name"]: (name, measure)
            for name, model in self._models.items()
            for measure in model.get("measures") or ()
        }

    def read_models(self) -> list[dict[str, Any]]:
        """All semantic models, and what is wrong with metrics that belong to none."""
        found = {name: self._read_model(model) for name, model in self._models.items()}
        found["metrics"] = {"name": "metrics", "measures": []}
        for name, metric in self._metrics.items():
            try:
                model, member = self._read_metric(name)
            except (UnusableDefinition, LookupError, RecursionError) as misfit:
                model, member = "metrics", {"name": name, "problem": _describe(misfit)}
            told = {"label": metric.get("label"), "description": metric.get("description")}
            found[model]["measures"].append(member | told)
        for name, (model, measure) in self._measures.items():
            if name not in self._metrics:
                found[model]["measures"].append(measure)
        return list(found.values())

    def _read_model(self, source: _Json) -> dict[str, Any]:
        place, primary = source.get("node_relation") or {}, _find_primary(source)
        return {
            "name": source["name"],
            "sql_table": enquote(*(place[key] for key in _TABLE if place.get(key))),
            "key": primary.get("expr") or primary.get("name"),
            "measures": [],
            "dimensions": source.get("dimensions"),
        }

    def _read_metric(self, name: str) -> tuple[str, dict[str, Any]]:
        """The semantic model of a metric, and the metric as a measure."""
        metric = self._metrics[name]
        kind, params = metric["type"], metric["type_params"]
        if kind == "simple":
            model, member = self._read_simple(params)
        elif kind in ("ratio", "derived"):
            model, member = self._read_combined(params)
        else:
            raise UnusableDefinition(f"a {kind} metric needs a window or a join over time")
        return model, self._limit(model, member, metric) | {"name": name}

    def _read_simple(self, params: _Json) -> tuple[str, dict[str, Any]]:
        used = params.get("measure") or {}
        own = params.get("metric_aggregation_params")
        model, measure = (own["semantic_model"], own) if own else self._measures[used["name"]]
        sql = measure.get("expr") or measure.get("name")
        return model, self._limit(model, {**params, **used, **measure, "expr": sql}, used)

    def _read_combined(self, params: _Json) -> tuple[str, dict[str, Any]]:
        # As MetricFlow computes a ratio: with decimals, and NULL over zero.
        sql = params.get("expr") or "1.0 * numerator / nullif(denominator, 0)"
        used = {each.get("alias") or each["name"]: each for each in params.get("metrics") or ()}
        if not params.get("expr"):
            used = {key: params[key] for key in ("numerator", "denominator")}
        inputs, models = {}, set()
        for alias, each in used.items():
            model, member = self._read_metric(each["name"])
            models.add(model)
            inputs[alias] = self._limit(model, {**each, **member}, each)
        if len(models) > 1:
            raise UnusableDefinition("its measures are of several tables; a join would repeat rows")
        return model, {"sql": sql, "inputs": inputs, "by_name": True}

    def _limit(self, model: str, member: dict[str, Any], source: _Json) -> dict[str, Any]:
        """``member`` with the filters of a reference to it as well."""
        # A model without a column for its primary entity names it apart.
        whole = self._models[model]
        own = _find_primary(whole).get("name") or whole.get("primary_entity")

        def refer(call: re.Match[str]) -> str:
            return f"{{{'CUBE' if call[1] == own else call[1]}.{call[2]}}}"

        filters = [
            {"sql": _DIMENSION.sub(refer, each["where_sql_template"])}
            for each in (source.get("filter") or {}).get("where_filters") or ()
        ]
        return member | {"filters": [*member.get("filters", ()), *filters]}
