"""WrenAI's MDL as cubes: ``mdl.json``, by its JSON schema (``core/wren-mdl`` of Canner/WrenAI).

An expression in it names columns of its model, calculated ones too. Columns of another model, which
it names through a column that is a relationship, are not read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nl2sql.sql.names import enquote
from retrieval.semantics.importing.models import Cube

_Json = Mapping[str, Any]
_DIMENSIONS = ("dimensions", "timeDimensions")


def read_mdl(manifest: _Json) -> list[Cube]:
    """All models, with the measures and dimensions of the cubes on them."""
    found = {model["name"]: _read_model(model) for model in manifest["models"]}
    for cube in manifest.get("cubes") or ():
        # What is on a view has no table.
        base = found.setdefault(cube["baseObject"], _read_model({"name": cube["baseObject"]}))
        known = {each["name"] for each in base["dimensions"]}
        base["measures"] += map(_read_calculated, cube.get("measures") or ())
        base["dimensions"] += [
            _read_calculated(each)
            for key in _DIMENSIONS
            for each in cube.get(key) or ()
            if each["name"] not in known
        ]
    return [Cube.model_validate(each) for each in found.values()]


def _read_model(model: _Json) -> dict[str, Any]:
    table, key = model.get("tableReference") or {}, model.get("primaryKey")
    columns = (each for each in model.get("columns") or () if not each.get("relationship"))
    return {
        "name": model["name"],
        "description": (model.get("properties") or {}).get("description"),
        "sql": model.get("refSql"),
        "sql_table": enquote(*(table[key] for key in ("schema", "table") if table.get(key))),
        "key": f"{{{key}}}" if key else "",
        "measures": [],
        "dimensions": [_read_member(each) for each in columns],
        **{key: model[key] for key in model if "Level" in key},
    }


def _read_calculated(source: _Json) -> dict[str, Any]:
    return _read_member({**source, "isCalculated": True})


def _read_member(source: _Json) -> dict[str, Any]:
    told = source.get("properties") or {}
    return {key: value for key, value in source.items() if key != "type"} | {
        "title": told.get("displayName"),
        "description": source.get("description") or told.get("description"),
        "public": not source.get("isHidden"),
        "by_name": source.get("isCalculated", False),
    }
