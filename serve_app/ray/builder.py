"""Turns the stages into a Ray Serve application.

Each stage that scales on its own is one deployment. With ``serve.fuse_cpu_stages``, all CPU stages
run in the ingress replica, and only calls of the language model cross processes.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ray
from pydantic import BaseModel, ConfigDict
from ray import serve
from ray.serve import Application

from generation.engines.choice import has_gpu
from serve_app.composition.wiring import Wiring
from serve_app.operations.background import check_exposure
from serve_app.ray.engine_replica import EngineReplica
from serve_app.ray.ingress import Ingress
from serve_app.ray.stage_replica import StageReplica
from serve_app.ray.stages import (
    build_executor,
    build_planner,
    build_ranker,
    build_repairer,
    build_retrieval,
)
from serve_app.settings import load_settings

# The ingress decides which request is answered next. Serve itself must not hold back requests that
# wait, are still sending their body, or are probes.
_INGRESS_SPARE = 256
# Probes of the stages, beside the questions.
_STAGE_SPARE = 16

# How soon Ray notices that a replica has died; its default is 10 s.
_HEALTH_CHECK_S = 1
# A replica is replaced after three checks without an answer in this time; Ray's default is 30 s.
_HEALTH_TIMEOUT_S = 10
# How long a service on one machine may take to stop.
_STOP_S = 10.0

# Logical CPUs, for placement only. All of them fit on two cores.
_ENGINE_CPUS = 1.0
_INGRESS_CPUS = 0.5
_STAGE_CPUS = 0.1


class BuildArguments(BaseModel):
    """Arguments of ``build_app`` in a Serve config file."""

    model_config = ConfigDict(extra="forbid")

    config: str = "quorumsql.yaml"


def build_app(arguments: dict[str, Any]) -> Application:
    """For ``import_path: serve_app.ray.builder:build_app`` in a Serve config or a RayService.

    Supports external databases only, not the embedded server. Raises SettingsError, and pydantic's
    ValidationError for arguments that are not those of ``BuildArguments``.
    """
    settings = load_settings(Path(BuildArguments.model_validate(arguments).config))
    # Serve's own config says where it listens; it is not visible here.
    check_exposure(settings, is_exposed=True)
    # Replicas that an upgrade or the autoscaler ends finish their questions first.
    drain_s = settings.limits.request_timeout_ms / 1000 + _STOP_S
    return build_application(Wiring(settings), drain_s=drain_s)


def build_application(
    wiring: Wiring, engine: Application | None = None, *, drain_s: float = _STOP_S
) -> Application:
    """The application; ``engine`` replaces the language model's deployment (for tests).

    A replica that ends has ``drain_s`` seconds to finish its questions.
    """
    cluster_gpus = _count_cluster_gpus()
    wiring = wiring.resolve_model(on_gpu=has_gpu() or cluster_gpus > 0)
    limits = wiring.settings.serve
    options = {
        "max_ongoing_requests": limits.max_ongoing_requests + _STAGE_SPARE,
        "health_check_period_s": _HEALTH_CHECK_S,
        "graceful_shutdown_timeout_s": drain_s,
    }
    bound_engine = engine or _bind_engine(wiring, options, cluster_gpus)
    handles = None if limits.fuse_cpu_stages else _bind_stages(wiring, bound_engine, options)
    ingress = serve.deployment(
        serve.ingress()(Ingress),
        name="ingress",
        ray_actor_options={"num_cpus": _INGRESS_CPUS},
        health_check_period_s=_HEALTH_CHECK_S,
        health_check_timeout_s=_HEALTH_TIMEOUT_S,
        graceful_shutdown_timeout_s=drain_s,
        max_ongoing_requests=limits.max_ongoing_requests
        + limits.max_waiting_requests
        + _INGRESS_SPARE,
    )
    return ingress.bind(wiring, bound_engine, handles)


def _bind_engine(wiring: Wiring, options: dict[str, Any], cluster_gpus: float) -> Application:
    model = wiring.settings.model
    on_gpu = model.engine == "vllm" and cluster_gpus > 0
    deployment = serve.deployment(
        EngineReplica,
        name="engine",
        # The engine batches concurrent requests, so the replica accepts all that the ingress sends.
        ray_actor_options={
            "num_cpus": _STAGE_CPUS if model.is_remote else _ENGINE_CPUS,
            "num_gpus": model.tensor_parallel_size if on_gpu else 0,
        },
        health_check_timeout_s=60,
        **options,
    )
    return deployment.bind(wiring.models)


def _bind_stages(
    wiring: Wiring, engine: Application, options: dict[str, Any]
) -> dict[str, Application]:
    def bind(
        name: str, build: Callable[..., tuple[object, ...]], *handles: Application
    ) -> Application:
        deployment = serve.deployment(
            StageReplica,
            name=name,
            ray_actor_options={"num_cpus": _STAGE_CPUS},
            health_check_timeout_s=_HEALTH_TIMEOUT_S,
            **options,
        )
        return deployment.bind(build, wiring, *handles)

    executor = bind("executor", build_executor)
    return {
        "retriever": bind("retriever", build_retrieval, executor),
        "planner": bind("planner", build_planner),
        "executor": executor,
        "ranker": bind("ranker", build_ranker, executor),
        "repairer": bind("repairer", build_repairer, engine),
    }


def _count_cluster_gpus() -> float:
    return float(ray.cluster_resources().get("GPU", 0)) if ray.is_initialized() else 0.0
