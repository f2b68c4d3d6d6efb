"""Definitions of dbt, Cube and WrenAI: what they mean in ours, and what is left out, with reasons.

The files are small ones in the form of the tools' own; none is a copy.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from retrieval.semantics.importing.importer import import_definitions
from retrieval.semantics.resolution import resolve_definitions
from retrieval.semantics.semantics_file import SECTIONS
from tests.fakes import SHOP
from tests.golden import load_text

Importer = Callable[..., tuple[dict[str, Any], dict[str, str]]]
"""Takes the text or value of a file and its name; returns the sections, and reasons by name."""


@pytest.fixture
def bring_in(tmp_path: Path) -> Importer:
    def run(content: Any, name: str = "file.json") -> tuple[dict[str, Any], dict[str, str]]:
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        file, left_out = import_definitions([path], SHOP)
        resolved, problems = resolve_definitions(file, SHOP)
        assert not problems
        found = file.semantics.model_dump(mode="json", exclude_defaults=True)
        assert len(resolved) == sum(len(found.get(key, ())) for key in SECTIONS)
        return found, {Path(each.what).name: each.reason for each in left_out}

    return run


def limit(where: str) -> dict[str, Any]:
    filters = {"where_filters": [{"where_sql_template": where}]}
    return {"filter": filters if where else None}


def build_part(name: str, where: str = "", **others: Any) -> dict[str, Any]:
    return {"name": name, "alias": None, **limit(where), **others}


def build_metric(name: str, where: str = "", **params: Any) -> dict[str, Any]:
    """A metric as dbt writes it: with null for what is not given."""
    empty = dict.fromkeys(("measure", "numerator", "denominator", "expr"))
    kind = params.pop("type")
    for key in {"measure", "numerator", "denominator"} & set(params):
        params[key] = build_part(**params[key])
    params["metrics"] = [build_part(**part) for part in params.get("metrics", ())]
    return {"name": name, "type": kind, "type_params": {**empty, **params}, **limit(where)}


def load(name: str) -> Any:
    return yaml.safe_load(load_text(f"imported/{name}"))


def test_metrics_of_dbt_mean_the_same_in_ours(bring_in: Importer) -> None:
    manifest = load("dbt.yaml")
    made = {f"metric.x.{each['name']}": build_metric(**each) for each in manifest["metrics"]}
    found, left_out = bring_in(manifest | {"metrics": made}, "manifest.json")
    assert {**found, "left_out": left_out} == load("dbt_meaning.yaml")


def test_cubes_mean_the_same_in_ours(bring_in: Importer) -> None:
    found, left_out = bring_in(load_text("imported/cubes.yml"), "cubes.yml")
    assert {**found, "left_out": left_out} == load("cubes_meaning.yaml")


def test_an_mdl_means_the_same_in_ours(bring_in: Importer) -> None:
    found, left_out = bring_in(load("mdl.yaml"))
    assert {**found, "left_out": left_out} == load("mdl_meaning.yaml")


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("orders.js", "cube('orders', {})", "no models in a programming language"),
        ("orders.yml", "cubes:\n  {% for a in b %}\n", "not valid YAML"),
        ("orders.yml", "cubes: [{sql_table: x}]", "it is not what dbt, Cube or WrenAI write"),
        ("manifest.json", "{", "Expecting property name"),
        ("manifest.json", '{"semantic_models": [{}], "metrics": []}', "it is not what dbt"),
        ("mdl.json", "[]", "it is not what dbt"),
    ],
)
def test_a_file_that_cannot_be_read_is_left_out(
    bring_in: Importer, name: str, content: str, reason: str
) -> None:
    found, left_out = bring_in(content, name)
    assert found == {"version": 1}
    assert any(reason in text for text in left_out.values()), left_out
