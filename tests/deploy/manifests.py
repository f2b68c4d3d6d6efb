"""The manifests of ``deploy/``, rendered by kustomize."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import yaml

from tests.conftest import ROOT

DEPLOY = ROOT / "deploy"
OVERLAYS = ("gpu", "cpu", "split")


@cache
def _render(folder: str) -> str:
    for command in (["kubectl", "kustomize"], ["kustomize", "build"]):
        if shutil.which(command[0]):
            found = subprocess.run([*command, folder], capture_output=True, text=True, check=False)
            assert found.returncode == 0, found.stderr
            return found.stdout
    pytest.skip("needs kubectl or kustomize, which render the overlays")


def render(overlay: str) -> list[Any]:
    """The resources of an overlay. Skips the test where nothing can render it."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return list(yaml.load_all(_render(str(DEPLOY / overlay)), loader))


def find(overlay: str, kind: str, name: str = "") -> Any:
    """The only resource of that kind, or the one of that name."""
    (found,) = (
        resource
        for resource in render(overlay)
        if resource["kind"] == kind and name in ("", resource["metadata"]["name"])
    )
    return found


def find_settings(overlay: str) -> str:
    """The settings file that all pods of an overlay mount."""
    (name,) = {
        volume["configMap"]["name"]
        for resource in render(overlay)
        for _, pod in list_pods(resource)
        for volume in pod["spec"]["volumes"]
        if "configMap" in volume
    }
    return str(find(overlay, "ConfigMap", name)["data"]["quorumsql.yaml"])


def list_pods(resource: Any) -> Iterator[tuple[str, Any]]:
    """``(pool, pod template)`` of each pod that comes of a resource."""
    spec = resource.get("spec", {})
    match resource["kind"]:
        case "RayService" | "RayJob":
            cluster = spec.get("rayClusterConfig") or spec["rayClusterSpec"]
            for group in (cluster["headGroupSpec"], *cluster.get("workerGroupSpecs", ())):
                yield group["labels"]["quorumsql.io/pool"], group["template"]
        case "Job":
            yield _read_pool(spec["template"]), spec["template"]
        case "CronJob":
            template = spec["jobTemplate"]["spec"]["template"]
            yield _read_pool(template), template


def _read_pool(template: Any) -> str:
    return str(template["metadata"]["labels"]["quorumsql.io/pool"])


def read_serve_config(overlay: str) -> Any:
    """The Serve config of the RayService."""
    return yaml.safe_load(find(overlay, "RayService")["spec"]["serveConfigV2"])
