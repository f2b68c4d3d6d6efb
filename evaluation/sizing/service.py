"""Simulates the service: ingress replicas, engine replicas, and the questions that arrive.

A question goes to the less busy of two random ingress replicas, as Ray Serve routes. There it is
admitted or refused, waits for its turn, and needs processor time, an engine replica (again the less
busy of two), processor time, and the database. The database answers any number of questions in the
same time; identical questions are not shared; no time limit ends a question; nothing fails.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TypeVar

from evaluation.metrics.statistics import percentile
from evaluation.sizing.admission import Admission, AdmissionLimits, Load, UnlimitedLoad
from evaluation.sizing.engine import EngineProfile, EngineReplica
from evaluation.sizing.events import Clock
from evaluation.sizing.processor import SharedProcessor
from evaluation.sizing.workload import QuestionCost, Workload

_Replica = TypeVar("_Replica", "_Ingress", EngineReplica)

# The first part of the arrivals fills the service and is not counted.
WARM_UP = 0.2


@dataclass(frozen=True, slots=True)
class Deployment:
    """The numbers of replicas and what they are."""

    replicas: int
    engines: int
    profile: EngineProfile
    limits: AdmissionLimits = field(default_factory=AdmissionLimits)
    build_load: Callable[[], Load] = UnlimitedLoad


@dataclass(frozen=True, slots=True)
class Prediction:
    """The result of a simulation.

    ``asked`` counts all questions. ``latencies_s`` are those of the answered ones after the
    warm-up, ``refused_share`` is that after the warm-up. ``cpu_share`` and ``engine_share`` are the
    parts of the time in which a replica's core or an engine works; ``batch`` is the mean number of
    sequences that a working engine writes: none while it reads a prompt.
    """

    asked: int
    answered: int
    refused: int
    latencies_s: tuple[float, ...] = field(repr=False)
    refused_share: float
    cpu_share: float
    engine_share: float
    batch: float

    def latency_s(self, percent: float) -> float:
        """A percentile of the latencies; 0 if nothing was answered."""
        return percentile(self.latencies_s, percent) if self.latencies_s else 0.0


def simulate(
    deployment: Deployment,
    workload: Workload,
    arrivals_s: Sequence[float],
    *,
    principals: int = 100,
    seed: int = 0,
) -> Prediction:
    """Asks at the given times until all questions are answered or refused.

    Costs are drawn from ``workload``, principals uniformly; both are the same for the same seed and
    arrivals, whatever the deployment.
    """
    return _Service(deployment, workload, arrivals_s, principals, seed).run()


class _Ingress:
    def __init__(self, clock: Clock, deployment: Deployment) -> None:
        self.admission = Admission(clock, deployment.limits, deployment.build_load())
        self.processor = SharedProcessor(clock)

    @property
    def present(self) -> int:
        return self.admission.present


class _Service:
    def __init__(
        self,
        deployment: Deployment,
        workload: Workload,
        arrivals_s: Sequence[float],
        principals: int,
        seed: int,
    ) -> None:
        self._clock = Clock()
        self._arrivals = arrivals_s
        self._workload = workload
        self._principals = principals
        self._drawing = Random(f"questions {seed}")
        self._routing = Random(f"routes {seed}")
        self._ingresses = [_Ingress(self._clock, deployment) for _ in range(deployment.replicas)]
        self._engines = [
            EngineReplica(self._clock, deployment.profile) for _ in range(deployment.engines)
        ]
        self._end = arrivals_s[-1] if arrivals_s else 0.0
        self._warm = WARM_UP * self._end
        self._latencies: list[float] = []
        self._answered = 0
        self._refused: list[float] = []
        self._shares = (0.0, 0.0, 0.0)

    def run(self) -> Prediction:
        """See ``simulate``."""
        self._clock.schedule(self._end, self._read_shares)
        self._expect(0)
        self._clock.run()
        counted = sum(time >= self._warm for time in self._arrivals)
        refused = sum(time >= self._warm for time in self._refused)
        return Prediction(
            len(self._arrivals),
            self._answered,
            len(self._refused),
            tuple(self._latencies),
            refused / max(1, counted),
            *self._shares,
        )

    def _expect(self, number: int) -> None:
        if number < len(self._arrivals):
            delay = self._arrivals[number] - self._clock.now
            self._clock.schedule(max(0.0, delay), lambda: self._arrive(number))

    def _arrive(self, number: int) -> None:
        cost = self._drawing.choice(self._workload)
        principal = self._drawing.randrange(self._principals)
        ingress = self._route(self._ingresses)
        if ingress.admission.enter(number, principal):
            ingress.admission.proceed(lambda: self._answer(number, principal, cost, ingress))
        else:
            self._refused.append(self._clock.now)
        self._expect(number + 1)

    def _answer(self, number: int, principal: int, cost: QuestionCost, ingress: _Ingress) -> None:
        def ask_model() -> None:
            self._route(self._engines).sample(cost.sampling, assess)

        def assess() -> None:
            ingress.processor.run(cost.cpu_after_s, execute)

        def execute() -> None:
            self._clock.schedule(cost.database_s, leave)

        def leave() -> None:
            ingress.admission.leave(number, principal)
            self._answered += 1
            arrival = self._arrivals[number]
            if arrival >= self._warm:
                self._latencies.append(self._clock.now - arrival)

        ingress.processor.run(cost.cpu_before_s, ask_model)

    def _route(self, replicas: Sequence[_Replica]) -> _Replica:
        """The less busy of two random replicas (power of two choices, Mitzenmacher 2001)."""
        if len(replicas) == 1:
            return replicas[0]
        first, second = self._routing.sample(replicas, 2)
        return first if first.present <= second.present else second

    def _read_shares(self) -> None:
        seconds = max(self._end, 1e-9)
        busy = sum(engine.busy_s for engine in self._engines)
        sequences = sum(engine.sequence_s for engine in self._engines)
        cpu = sum(ingress.processor.busy_s for ingress in self._ingresses)
        self._shares = (
            cpu / len(self._ingresses) / seconds,
            busy / len(self._engines) / seconds,
            sequences / busy if busy else 0.0,
        )
