"""WrenAI's MDL as cubes: ``mdl.json``, by its JSON schema (``core/wren-mdl`` of Canner/WrenAI).

An expression in it names columns of its model, calculated ones too, and those of another model
through a column that is a relationship.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlglot import exp

from nl2sql.sql.names import enquote, quote_name
from retrieval.semantics.importing.models import Cube
from retrieval.semantics.sql_parts import UnusableDefinition, rewrite_columns

_Json = Mapping[str, Any]
_KNOWN = ("type", "isCalculated", "notNull", "properties", "isPrimaryKey", "isHidden", "expression")
_REVERSED = {"ONE_TO_MANY": "MANY_TO_ONE", "MANY_TO_ONE": "ONE_TO_MANY"}
# Cubes have the first keys, metrics of older files the last one.
_MEASURES = ("measures", "measure")
_DIMENSIONS = ("dimensions", "timeDimensions", "dimension")


def read_mdl(manifest: _Json, dialect: str) -> list[Cube]:
    """All models, with the measures of the cubes on them; of metrics, in older files."""
    models = {model["name"]: model for model in manifest["models"]}
    cubes = [*(manifest.get("cubes") or ()), *(manifest.get("metrics") or ())]
    found = [_read_model(model, manifest, cubes, dialect) for model in models.values()]
    for cube in cubes:
        if (base := cube["baseObject"]) not in models:
            members = _list(cube, *_MEASURES, *_DIMENSIONS)
            problem = f"{base} is not a model"
            lost = [{"name": each["name"], "problem": problem} for each in members]
            found.append({"name": cube["name"], "measures": lost})
    return [Cube.model_validate(each) for each in found]


def _list(cube: _Json, *keys: str) -> list[_Json]:
    return [each for key in keys for each in cube.get(key) or ()]


def _read_model(
    model: _Json, manifest: _Json, cubes: Sequence[_Json], dialect: str
) -> dict[str, Any]:
    columns = {column["name"]: column for column in model.get("columns") or ()}
    related = {each["name"]: each for each in manifest.get("relationships") or ()}
    joined = {
        name: related[column["relationship"]]
        for name, column in columns.items()
        if column.get("relationship") in related
    }
    known = set(columns) - set(joined)
    keys = model.get("primaryKey") or ()
    key = keys if isinstance(keys, str) else next(iter(keys), "")
    own = [cube for cube in cubes if cube["baseObject"] == model["name"]]
    measures = [each for cube in own for each in _list(cube, *_MEASURES)]
    dimensions = [each for cube in own for each in _list(cube, *_DIMENSIONS)]
    table = model.get("tableReference") or {}
    names = [table[key] for key in ("schema", "table") if table.get(key)]
    return {
        "name": model["name"],
        "sql": model.get("refSql") or model.get("baseObject"),
        "sql_table": ".".join(map(enquote, names)),
        "key": f"{{{key}}}" if key else "",
        "joins": [_read_join(model, name, each, dialect) for name, each in joined.items()],
        "measures": [_read_member(each, known, dialect) for each in measures],
        "dimensions": [
            _read_member(
                each
                if each.get("expression")
                else {"expression": quote_name(name, dialect), **each},
                known - {name} if each.get("isCalculated") else set(),
                dialect,
            )
            for name, each in columns.items()
            if name in known
        ]
        + [_read_member(each, known, dialect) for each in dimensions if each["name"] not in known],
    }


def _read_join(model: _Json, name: str, related: _Json, dialect: str) -> dict[str, str]:
    is_first = related["models"][0] == model["name"]
    kind: str = related["joinType"]
    other = related["models"][is_first]
    sql = _refer(related["condition"], {model["name"]: "CUBE", other: name}, (), dialect)
    kind = kind if is_first else _REVERSED.get(kind, kind)
    return {"name": name, "cube": other, "sql": sql, "relationship": kind.lower()}


def _read_member(source: _Json, known: set[str], dialect: str) -> dict[str, Any]:
    told = source.get("properties") or {}
    member = {key: value for key, value in source.items() if key not in _KNOWN} | {
        "title": told.get("displayName"),
        "description": source.get("description") or told.get("description"),
        "public": not source.get("isHidden"),
    }
    try:
        text = source.get("expression") or source["name"]
        return member | {"sql": _refer(text, {}, known, dialect)}
    except UnusableDefinition as misfit:
        return member | {"problem": misfit.text}


def _refer(text: str, names: Mapping[str, str], known: Collection[str], dialect: str) -> str:
    """The text with references to the ``known`` columns, and to those of models by other names.

    Raises UnusableDefinition.
    """

    def write(column: exp.Column, name: str) -> str:
        if column.args.get("db"):
            raise UnusableDefinition(f"{name} is over several relationships")
        if column.table:
            return f"{{{names.get(column.table, column.table)}.{column.name}}}"
        return f"{{{column.name}}}" if column.name in known else name

    return rewrite_columns(text, dialect, write)
