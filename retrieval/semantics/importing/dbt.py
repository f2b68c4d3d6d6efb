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
from retrieval.semantics.importing.models import Cube, LeftOut
from retrieval.semantics.sql_parts import UnusableDefinition

_Json = Mapping[str, Any]
_DIMENSION = re.compile(r"\{\{\s*Dimension\(\s*['\"](\w+?)__(\w+)['\"]\s*\)\s*\}\}")
_TABLE = ("schema_name", "alias")
_TABLES = ("model", "seed", "snapshot", "source")


def read_dbt(manifest: _Json, left_out: list[LeftOut]) -> list[Cube]:
    """All semantic models with their metrics, and the tables with their descriptions.

    Metrics that belong to no semantic model are left out.
    """
    project = _Project(manifest)
    found = {name: _read_model(model) for name, model in project.models.items()}
    for name, metric in project.metrics.items():
        try:
            model, member = project.read_metric(name)
        except (UnusableDefinition, LookupError, RecursionError) as misfit:
            left_out.append(LeftOut(name, _describe(misfit)))
            continue
        told = {"label": metric.get("label"), "description": metric.get("description")}
        found[model]["measures"].append(member | told)
    for name, (model, measure) in project.measures.items():
        if name not in project.metrics:
            found[model]["measures"].append(measure)
    return [Cube.model_validate(each) for each in (*found.values(), *_read_tables(manifest))]


def _describe(misfit: Exception) -> str:
    if isinstance(misfit, LookupError):
        return f"it refers to {misfit}, which is not there"
    return "it refers to itself" if isinstance(misfit, RecursionError) else str(misfit)


def _read_tables(manifest: _Json) -> Iterator[dict[str, Any]]:
    """What dbt builds or reads, by its id; accepted values end the description of a column."""
    nodes = {**(manifest.get("nodes") or {}), **(manifest.get("sources") or {})}
    accepted: dict[tuple[Any, Any], str] = {}
    for node in nodes.values():
        test = node.get("test_metadata") or {}
        told = test.get("kwargs") or {}
        # Newer versions have the values one level deeper.
        values = told.get("values") or (told.get("arguments") or {}).get("values")
        if test.get("name") == "accepted_values" and values:
            listed = ", ".join(f"'{value}'" for value in values)
            accepted[node.get("attached_node"), node.get("column_name")] = f"one of {listed}"
    for key, node in nodes.items():
        if node.get("resource_type") not in _TABLES:
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
                "sql_table": enquote(*filter(None, (node.get("schema"), table))),
                "description": node.get("description"),
                "dimensions": columns,
            }


def _by_name(values: Any) -> dict[str, _Json]:
    """The semantic manifest has a list, the other one a mapping by id."""
    listed = values.values() if isinstance(values, Mapping) else values or ()
    return {each["name"]: each for each in listed}


def _read_model(source: _Json) -> dict[str, Any]:
    place = source.get("node_relation") or {}
    entities = source.get("entities") or ()
    primary: _Json = next((each for each in entities if each["type"] == "primary"), {})
    return {
        "name": source["name"],
        "sql_table": enquote(*(place[key] for key in _TABLE if place.get(key))),
        # A model without a column for its primary entity names it apart.
        "entity": primary.get("name") or source.get("primary_entity"),
        "key": primary.get("expr") or primary.get("name"),
        "measures": [],
        "dimensions": source.get("dimensions"),
    }


def _limit(member: dict[str, Any], source: _Json) -> dict[str, Any]:
    """``member`` with the filters of a reference to it as well."""
    filters = [
        {"sql": _DIMENSION.sub(r"{\1.\2}", each["where_sql_template"])}
        for each in (source.get("filter") or {}).get("where_filters") or ()
    ]
    return member | {"filters": [*member.get("filters", ()), *filters]}


class _Project:
    """Reads metrics as plain values for a ``Cube``'s measures."""

    def __init__(self, manifest: _Json) -> None:
        self.models = _by_name(manifest.get("semantic_models"))
        self.metrics = _by_name(manifest.get("metrics"))
        self.measures = {
            measure["name"]: (name, measure)
            for name, model in self.models.items()
            for measure in model.get("measures") or ()
        }

    def read_metric(self, name: str) -> tuple[str, dict[str, Any]]:
        """The semantic model of a metric, and the metric. Raises UnusableDefinition."""
        metric = self.metrics[name]
        kind, params = metric["type"], metric["type_params"]
        if kind == "simple":
            model, member = self._read_simple(params)
        elif kind in ("ratio", "derived"):
            model, member = self._read_combined(params)
        else:
            raise UnusableDefinition(f"a {kind} metric needs a window or a join over time")
        return model, _limit(member, metric) | {"name": name}

    def _read_simple(self, params: _Json) -> tuple[str, dict[str, Any]]:
        used = params.get("measure") or {}
        own = params.get("metric_aggregation_params")
        model, measure = (own["semantic_model"], own) if own else self.measures[used["name"]]
        sql = measure.get("expr") or measure.get("name")
        return model, _limit({**params, **used, **measure, "expr": sql}, used)

    def _read_combined(self, params: _Json) -> tuple[str, dict[str, Any]]:
        # As MetricFlow computes a ratio: with decimals, and NULL over zero.
        sql = params.get("expr") or "1.0 * numerator / nullif(denominator, 0)"
        used = {each.get("alias") or each["name"]: each for each in params.get("metrics") or ()}
        if not params.get("expr"):
            used = {key: params[key] for key in ("numerator", "denominator")}
        read = {alias: self.read_metric(each["name"]) for alias, each in used.items()}
        models = {model for model, _ in read.values()}
        if len(models) > 1:
            raise UnusableDefinition("its measures are of several tables; a join would repeat rows")
        inputs = {
            alias: _limit({**used[alias], **member}, used[alias])
            for alias, (_, member) in read.items()
        }
        return models.pop(), {"sql": sql, "inputs": inputs, "by_name": True}
