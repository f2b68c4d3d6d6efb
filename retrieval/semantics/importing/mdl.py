"""WrenAI's MDL as cubes: ``mdl.json``, by its JSON schema (``core/wren-mdl`` of Canner/WrenAI).

An expression in it names columns of its model, calculated ones too, and those of another model
through a column that is a relationship.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from nl2sql.sql.names import enquote
from retrieval.semantics.importing.models import Cube

_Json = Mapping[str, Any]
_REVERSED = {"ONE_TO_MANY": "MANY_TO_ONE", "MANY_TO_ONE": "ONE_TO_MANY"}
_COLUMN = re.compile(r"(\w+)\.(\w+)")
# Cubes have the first keys, metrics of older files the last one.
_MEASURES = ("measures", "measure")
_DIMENSIONS = ("dimensions", "timeDimensions", "dimension")


def read_mdl(manifest: _Json) -> list[Cube]:
    """All models, with the measures of the cubes on them; of metrics, in older files."""
    relationships = {each["name"]: each for each in manifest.get("relationships") or ()}
    found = {model["name"]: _read_model(model, relationships) for model in manifest["models"]}
    for cube in (*(manifest.get("cubes") or ()), *(manifest.get("metrics") or ())):
        # What is on a view has no table.
        base = found.setdefault(cube["baseObject"], _read_model({"name": cube["baseObject"]}, {}))
        known = {each["name"] for each in base["dimensions"]}
        for section, keys in (("measures", _MEASURES), ("dimensions", _DIMENSIONS)):
            members = [each for key in keys for each in cube.get(key) or ()]
            base[section] += [
                _read_member(each) | {"by_name": True}
                for each in members
                if each["name"] not in known
            ]
    return [Cube.model_validate(each) for each in found.values()]


def _read_model(model: _Json, relationships: Mapping[str, _Json]) -> dict[str, Any]:
    table, keys = model.get("tableReference") or {}, model.get("primaryKey") or ()
    key = keys if isinstance(keys, str) else next(iter(keys), "")
    columns = model.get("columns") or ()
    return {
        "name": model["name"],
        "sql": model.get("refSql"),
        "sql_table": enquote(*(table[key] for key in ("schema", "table") if table.get(key))),
        "key": f"{{{key}}}" if key else "",
        "joins": [
            _read_join(model["name"], column["name"], relationships[column["relationship"]])
            for column in columns
            if column.get("relationship") in relationships
        ],
        "measures": [],
        "dimensions": [_read_member(each) for each in columns if not each.get("relationship")],
        **{key: model[key] for key in model if "Level" in key},
    }


def _read_join(model: str, name: str, related: _Json) -> dict[str, str]:
    is_first = related["models"][0] == model
    kind: str = related["joinType"]
    return {
        "name": name,
        "cube": related["models"][is_first],
        "sql": _COLUMN.sub(r"{\1.\2}", related["condition"]),
        "relationship": (kind if is_first else _REVERSED.get(kind, kind)).lower(),
    }


def _read_member(source: _Json) -> dict[str, Any]:
    told = source.get("properties") or {}
    return {key: value for key, value in source.items() if key != "type"} | {
        "title": told.get("displayName"),
        "description": source.get("description") or told.get("description"),
        "public": not source.get("isHidden"),
        "by_name": source.get("isCalculated", False),
    }
