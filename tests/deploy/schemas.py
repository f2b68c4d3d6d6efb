"""Validates resources against the schemas of Kubernetes, and of KubeRay's own definitions."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
import yaml

from tests.conftest import ROOT

KUBERNETES = "1.34"
FOLDER = Path(os.environ.get("QUORUMSQL_K8S", ROOT.parent / "shared" / "k8s"))
# No package has the definitions of Prometheus Operator. These are the fields that are used here;
# the resources were valid against its definitions of version 0.93. `promtool` checks the rules.
OPERATOR_FIELDS = {
    "ServiceMonitor": {
        "selector": {"matchLabels"},
        "endpoints": {"port", "interval", "relabelings"},
    },
    "PrometheusRule": {"groups": {"name", "rules"}},
}


def check(resource: Any) -> None:
    """Raises ``jsonschema.ValidationError`` for a field that is unknown, missing or wrong."""
    group = resource["apiVersion"].partition("/")[0]
    if group == "ray.io":
        _read_definition(resource["kind"].lower()).validate(resource)
    elif group == "monitoring.coreos.com":
        fields = OPERATOR_FIELDS[resource["kind"]]
        for name, value in resource["spec"].items():
            for part in value if isinstance(value, list) else [value]:
                if unknown := part.keys() - fields.get(name, set()):
                    raise jsonschema.ValidationError(f"unknown: {unknown}")
    else:
        kubernetes_validate.validate(resource, KUBERNETES, strict=True)


@cache
def _read_definition(kind: str) -> Any:
    file = FOLDER / f"ray.io_{kind}s.yaml"
    if not file.exists():
        pytest.skip(f"needs KubeRay's definitions in {FOLDER} (QUORUMSQL_K8S)")
    # The loader in C: these files have 30,000 lines.
    definition = yaml.load(file.read_text(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    (version,) = (each for each in definition["spec"]["versions"] if each["name"] == "v1")
    return jsonschema.Draft202012Validator(_close(version["schema"]["openAPIV3Schema"]))


def _close(schema: Any) -> Any:
    """As JSON Schema that refuses unknown fields, which an API server would drop or refuse."""
    if not isinstance(schema, dict):
        return schema
    if schema.get("x-kubernetes-int-or-string"):
        return {"type": ["integer", "string"]}
    closed = {**schema}
    for key in ("items", "additionalProperties", "not"):
        if key in closed:
            closed[key] = _close(closed[key])
    for key in ("allOf", "anyOf", "oneOf"):
        if key in closed:
            # These only restrict what the schema itself describes.
            closed[key] = [part for part in closed[key] if "properties" not in part]
            if not closed[key]:
                del closed[key]
    if "properties" in closed:
        closed["properties"] = {
            name: _close(property_) for name, property_ in closed["properties"].items()
        }
        if not closed.get("x-kubernetes-preserve-unknown-fields"):
            closed.setdefault("additionalProperties", False)
    if closed.get("x-kubernetes-embedded-resource") or closed.get("nullable"):
        closed.setdefault("type", "object")
    return closed
