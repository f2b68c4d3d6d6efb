"""The stages of deployments: what each replica builds from the wiring, and how they are reached."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ray.serve.handle import DeploymentHandle

from repair.repairer import CandidateRepairer
from retrieval.planner import SchemaPlanner
from serve_app.composition import stages
from serve_app.composition.stages import CpuStages
from serve_app.composition.wiring import Wiring
from serve_app.ray.remote import RemoteEngine, RemoteStage


def build_retrieval(wiring: Wiring, executor: DeploymentHandle[Any]) -> tuple[object, ...]:
    """The retriever, feedback, sessions and the descriptions of databases."""
    store = wiring.build_index_store()
    guard = wiring.build_guard(store)
    return stages.build_retrieval(wiring, store, guard, _reach("executor", executor))


def build_planner(wiring: Wiring) -> tuple[object, ...]:
    """The planner."""
    return (SchemaPlanner(wiring.settings.flags),)


def build_executor(wiring: Wiring) -> tuple[object, ...]:
    """The security boundary: the guard, and the read-only executor behind it."""
    return (wiring.build_guard(), wiring.build_executor())


def build_ranker(wiring: Wiring, executor: DeploymentHandle[Any]) -> tuple[object, ...]:
    """The ranker."""
    guarded = _reach("executor", executor)
    return (wiring.build_ranker(guarded, guarded),)


def build_repairer(wiring: Wiring, engine: DeploymentHandle[Any]) -> tuple[object, ...]:
    """The repairer."""
    return (CandidateRepairer(RemoteEngine(engine), wiring.settings),)


def reach_stages(handles: Mapping[str, DeploymentHandle[Any]]) -> CpuStages:
    """All CPU stages through handles, which are keyed by deployment name."""
    retrieval, executor = (_reach(name, handles[name]) for name in ("retriever", "executor"))
    planner, ranker, repairer = (
        _reach(name, handles[name]) for name in ("planner", "ranker", "repairer")
    )
    return CpuStages(
        retriever=retrieval,
        directory=retrieval,
        feedback=retrieval,
        conversations=retrieval,
        planner=planner,
        guard=executor,
        executor=executor,
        ranker=ranker,
        repairer=repairer,
        probes={"index": retrieval, "databases": executor},
    )


def _reach(name: str, handle: DeploymentHandle[Any]) -> Any:
    """The stage behind the handle; its methods are found when they are called."""
    return RemoteStage(name, handle)
