"""dbt as cubes: ``manifest.json`` and ``semantic_manifest.json``, which ``dbt parse`` writes.

A metric is a measure of the semantic model whose measures it reads; so is a measure that is not a
metric as it is. The fields are those of https://schemas.getdbt.com/dbt/manifest/v12.json, and
MetricFlow's documentation says what they mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nl2sql.sql.names import enquote
from retrieval.semantics.importing.models import SEVERAL, Cube
from retrieval.semantics.sql_parts import UnusableDefinition, rewrite_columns

_Json = Mapping[str, Any]
_DIMENSION = re.compile(r"\{\{\s*Dimension\(\s*['\"](\w+?)__(\w+)['\"]\s*\)\s*\}\}")
_KEYS = ("primary", "unique")
_KNOWN = (
    *("name", "agg", "expr", "label", "alias", "filter", "semantic_model", "config", "metadata"),
    *("create_metric", "agg_time_dimension", "measure", "input_measures", "type_params"),
    *("metric_aggregation_params",),
)


def read_dbt(manifests: Sequence[_Json], dialect: str) -> list[Cube]:
    """All semantic models; the manifests are of one project."""
    models, metrics = (_by_name(manifests, key) for key in ("semantic_models", "metrics"))
    return _Project(models, metrics, dialect).read_models()


def _by_name(manifests: Iterable[_Json], key: str) -> dict[str, _Json]:
    """Both files have the same; one as a list, the other by id."""
    found: dict[str, _Json] = {}
    for manifest in manifests:
        values = manifest.get(key) or ()
        for value in values.values() if isinstance(values, Mapping) else values:
            found[value["name"]] = value
    return found


def _find(model: _Json, key: str, name: str) -> _Json | None:
    return next((each for each in model.get(key) or () if each["name"] == name), None)


def _read_expression(source: _Json) -> str:
    return str(source.get("expr") or source["name"])


def _list_extra(source: _Json) -> dict[str, Any]:
    """The values of keys that are not read here; most are a reason to leave a member out."""
    return {key: value for key, value in source.items() if value and key not in _KNOWN}


def _read_measure(source: _Json) -> dict[str, Any]:
    kind, sql = source["agg"], _read_expression(source)
    if kind == "sum_boolean":
        kind, sql = "sum", f"CASE WHEN {sql} THEN 1 ELSE 0 END"
    kind = "avg" if kind == "average" else kind
    told = {"title": source.get("label"), "name": source["name"]}
    return {**_list_extra(source), **told, "type": kind, "sql": sql}


class _Project:
    """Members are plain values for ``Cube``; methods raise UnusableDefinition."""

    def __init__(
        self, models: Mapping[str, _Json], metrics: Mapping[str, _Json], dialect: str
    ) -> None:
        self._models = models
        self._metrics = metrics
        self._dialect = dialect
        self._measures = {
            measure["name"]: (model, measure)
            for model in models.values()
            for measure in model.get("measures") or ()
        }

    def read_models(self) -> list[Cube]:
        """All semantic models, and what is wrong with metrics that belong to none."""
        found: dict[str, list[Any]] = {name: [] for name in self._models}
        for name, metric in self._metrics.items():
            try:
                model, member = self._read_metric(name)
            except (UnusableDefinition, RecursionError) as misfit:
                model, member = {}, {"name": name, "problem": str(misfit)}
            told = {"title": metric.get("label"), "description": metric.get("description")}
            found.setdefault(model.get("name", "metrics"), []).append(member | told)
        for name, (model, measure) in self._measures.items():
            problem = "a metric has its name" if name in self._metrics else ""
            found[model["name"]].append(_read_measure(measure) | {"problem": problem})
        return [
            Cube.model_validate(self._read_model(self._models.get(name, {}), name, measures))
            for name, measures in found.items()
        ]

    def _read_model(self, source: _Json, name: str, measures: list[Any]) -> dict[str, Any]:
        place = source.get("node_relation") or {}
        entities = source.get("entities") or ()
        dimensions = [
            {
                "name": each["name"],
                "title": each.get("label"),
                "description": each.get("description"),
                "sql": _read_expression(each),
                "validity": (each.get("type_params") or {}).get("validity_params"),
            }
            for each in source.get("dimensions") or ()
        ]
        joins = [
            {
                "name": f"{near['name']}__{other['name']}",
                "cube": other["name"],
                "sql": f"{{CUBE}}.{_read_expression(near)} = "
                f"{{{near['name']}__{other['name']}}}.{_read_expression(far)}",
                "relationship": "many_to_one",
            }
            for near in entities
            for other in self._models.values()
            if (far := _find(other, "entities", near["name"])) and far["type"] in _KEYS
        ]
        table = ".".join(enquote(place[key]) for key in ("schema_name", "alias") if key in place)
        return {
            "name": name,
            "sql_table": table,
            "key": next((_read_expression(e) for e in entities if e["type"] == "primary"), ""),
            "measures": measures,
            "dimensions": dimensions,
            "joins": joins,
        }

    def _read_metric(self, name: str) -> tuple[_Json, dict[str, Any]]:
        """The semantic model of a metric, and the metric as a measure."""
        if (metric := self._metrics.get(name)) is None:
            raise UnusableDefinition(f"there is no metric {name!r}")
        kind, params = metric["type"], metric["type_params"]
        if kind == "simple":
            model, member = self._read_simple(name, params)
        elif kind in ("ratio", "derived"):
            model, member = self._read_combined(params)
        else:
            raise UnusableDefinition(f"a {kind} metric needs a window or a join over time")
        return model, self._limit(model, member, metric) | {"name": name}

    def _read_simple(self, name: str, params: _Json) -> tuple[_Json, dict[str, Any]]:
        used, own = params.get("measure") or {}, params.get("metric_aggregation_params") or {}
        if own.get("semantic_model") in self._models:
            model, measure = self._models[own["semantic_model"]], {"name": name, **own}
        elif used.get("name") in self._measures:
            model, measure = self._measures[used["name"]]
        else:
            raise UnusableDefinition("its measure is in no semantic model")
        member = _read_measure(measure) | _list_extra(params) | _list_extra(used)
        return model, self._limit(model, member, used)

    def _read_combined(self, params: _Json) -> tuple[_Json, dict[str, Any]]:
        references = [
            (each.get("alias") or each["name"], each) for each in params.get("metrics") or ()
        ]
        # As MetricFlow computes a ratio: with decimals, and NULL over zero.
        sql = "1.0 * {numerator} / nullif({denominator}, 0)"
        if params.get("expr"):
            sql = rewrite_columns(params["expr"], self._dialect, lambda _, name: f"{{{name}}}")
        else:
            references = [(key, params[key]) for key in ("numerator", "denominator")]
        inputs, models = {}, {}
        for alias, each in references:
            model, member = self._read_metric(each["name"])
            limited = self._limit(model, member | _list_extra(each), each)
            inputs[alias] = limited | {"name": alias}
            models[model["name"]] = model
        if len(models) > 1:
            raise UnusableDefinition(SEVERAL)
        return model, {"sql": sql, "inputs": inputs}

    def _limit(self, model: _Json, member: dict[str, Any], source: _Json) -> dict[str, Any]:
        """``member`` with the filters of a reference, as a manifest or as people write them."""
        found = source.get("filter") or ()
        listed = found["where_filters"] if isinstance(found, Mapping) else found
        filters = [
            {"sql": _DIMENSION.sub(lambda call: self._refer(model, *call.groups()), text)}
            for each in ([listed] if isinstance(listed, str) else listed)
            for text in [each if isinstance(each, str) else each["where_sql_template"]]
        ]
        return member | {"filters": [*member.get("filters", ()), *filters]}

    def _refer(self, model: _Json, link: str, name: str) -> str:
        """A reference to a dimension over one entity."""
        own = _find(model, "entities", link)
        is_own = own["type"] in _KEYS if own else model.get("primary_entity") == link
        if is_own and _find(model, "dimensions", name):
            return f"{{CUBE.{name}}}"
        places = [
            other["name"]
            for other in self._models.values()
            if (entity := _find(other, "entities", link)) and entity["type"] in _KEYS
            if _find(other, "dimensions", name)
        ]
        if own is None or len(places) != 1:
            raise UnusableDefinition(f"its filter names {link}__{name}, which no one model has")
        return f"{{{link}__{places[0]}.{name}}}"
