"""Simulates the service: ingress replicas, engine replicas, and the questions that arrive.

A question goes to the less busy of two random ingress replicas, as Ray Serve routes. There it is
admitted or refused, waits for its turn, and needs processor time (one core, shared equally by all
questions), an engine replica (again the less busy of two), processor time, and the database. The
database answers any number of questions in the same time; identical questions are not shared; no
time limit ends a question; nothing fails; principals are called in the order of their arrival.

An engine reads a prompt once for its K answers; meanwhile no answer grows (reading is bound by
arithmetic, writing by memory, and their times add up). Then all running sequences gain one token a
step, and a step's time depends on their number. A request that does not fit waits for those before.

SimPy (MIT) was tried: processor sharing over 30,000 jobs took it ten times as long, since all
events but arrivals are rescheduled whenever something joins or leaves.
"""

from __future__ import annotations

import heapq
import itertools
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Protocol, TypeVar

from evaluation.metrics.statistics import percentile
from evaluation.sizing.inputs import EngineProfile, QuestionCost, SamplingCost, Workload

Action = Callable[[], None]

# The first part of the arrivals fills the service and is not counted.
WARM_UP = 0.2


class LoadLimit(Protocol):
    """What bounds the questions in a replica: ``serve_app.service.admission.Load``."""

    def measure(self, seconds: float, present: int) -> None:
        """Records how long a request took, and how many were present when it came, with it."""
        ...

    @property
    def most_present(self) -> float:
        """The most requests at a time within the slowdown."""
        ...


@dataclass(frozen=True, slots=True)
class Deployment:
    """The numbers of replicas and what they are.

    ``max_ongoing`` and ``max_waiting`` are the settings of ``serve`` of these names.
    """

    replicas: int
    engines: int
    profile: EngineProfile
    build_load: Callable[[], LoadLimit]
    max_ongoing: int = 64
    max_waiting: int = 256


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


class Clock:
    """Simulated seconds; calls scheduled actions in the order of time, then of scheduling.

    >>> clock, seen = Clock(), []
    >>> clock.schedule(2.0, lambda: seen.append(("b", clock.now)))
    >>> clock.schedule(1.0, lambda: seen.append(("a", clock.now)))
    >>> clock.run(); seen
    [('a', 1.0), ('b', 2.0)]
    """

    def __init__(self) -> None:
        self.now = 0.0
        self._events: list[tuple[float, int, Action]] = []
        self._orders = itertools.count()

    def schedule(self, delay_s: float, action: Action) -> None:
        """Calls ``action`` after that many seconds."""
        heapq.heappush(self._events, (self.now + delay_s, next(self._orders), action))

    def run(self) -> None:
        """Until nothing is scheduled."""
        while self._events:
            self.now, _, action = heapq.heappop(self._events)
            action()


class SharedServer:
    """Jobs that progress together: at ``rate(weight)`` a second each, by the weight of all.

    ``busy_s`` are the seconds with jobs, ``weighted_s`` those seconds times the weight.
    """

    def __init__(self, clock: Clock, rate: Callable[[int], float]) -> None:
        self._clock = clock
        self._rate = rate
        # Work done on each present job since the start; a job ends at a value of it.
        self._progress = 0.0
        self._updated = 0.0
        self._jobs: list[tuple[float, int, int, Action]] = []
        self._orders = itertools.count()
        self._plan_number = 0
        self._is_paused = False
        self.weight = 0
        self.busy_s = 0.0
        self.weighted_s = 0.0

    def __len__(self) -> int:
        return len(self._jobs)

    def add(self, work: float, done: Action, weight: int = 1) -> None:
        """Calls ``done`` when so much work is done on the job."""
        self._advance()
        heapq.heappush(self._jobs, (self._progress + work, next(self._orders), weight, done))
        self.weight += weight
        self._plan()

    def pause(self, is_paused: bool) -> None:
        """Lets no job progress, or lets all go on."""
        self._advance()
        self._is_paused = is_paused
        self._plan()

    def _advance(self) -> None:
        elapsed = self._clock.now - self._updated
        self._updated = self._clock.now
        if self._jobs and not self._is_paused:
            self._progress += elapsed * self._rate(self.weight)
            self.busy_s += elapsed
            self.weighted_s += elapsed * self.weight

    def _plan(self) -> None:
        self._plan_number += 1
        number = self._plan_number
        if self._jobs and not self._is_paused:
            left = max(0.0, self._jobs[0][0] - self._progress)
            delay_s = left / self._rate(self.weight)
            self._clock.schedule(delay_s, lambda: self._finish(number))

    def _finish(self, number: int) -> None:
        if number != self._plan_number:
            return  # something joined or left meanwhile
        self._advance()
        end, _, weight, done = heapq.heappop(self._jobs)
        self._progress = max(self._progress, end)
        self.weight -= weight
        self._plan()
        done()


class SimulatedEngine:
    """Answers requests with continuous batching; ``present`` counts those that wait or run."""

    def __init__(self, clock: Clock, profile: EngineProfile) -> None:
        self._clock = clock
        self._profile = profile
        steps_s = [profile.step_s(count) for count in range(profile.max_sequences + 1)]
        # A unit of work is a token of every sequence. A request may be larger than the engine.
        self.writing = SharedServer(clock, lambda count: 1 / steps_s[min(count, len(steps_s) - 1)])
        self._waiting: deque[tuple[SamplingCost, Action]] = deque()
        self._kv_tokens = 0.0
        self._is_reading = False
        self._reading_s = 0.0
        self.present = 0

    @property
    def busy_s(self) -> float:
        """Seconds of reading and writing."""
        return self._reading_s + self.writing.busy_s

    def sample(self, cost: SamplingCost, done: Action) -> None:
        """Calls ``done`` when all answers are complete."""
        self.present += 1
        self._waiting.append((cost, done))
        self._continue()

    def _continue(self) -> None:
        """Reads the next prompt if it fits; otherwise lets the answers grow."""
        if self._is_reading or not self._waiting or not self._fits(self._waiting[0][0]):
            return
        self._is_reading = True
        self.writing.pause(True)
        cost, done = self._waiting.popleft()
        uncached = cost.prompt_tokens * (1 - self._profile.cached_share)
        seconds = uncached / self._profile.prompt_tokens_per_s
        self._reading_s += seconds
        self._clock.schedule(seconds, lambda: self._start(cost, done))

    def _fits(self, cost: SamplingCost) -> bool:
        # One that is larger than the whole replica runs alone.
        return not len(self.writing) or (
            len(self.writing) < self._profile.max_requests
            and self.writing.weight + cost.k <= self._profile.max_sequences
            and self._kv_tokens + cost.kv_tokens <= self._profile.kv_tokens
        )

    def _start(self, cost: SamplingCost, done: Action) -> None:
        self._is_reading = False
        self._kv_tokens += cost.kv_tokens
        self.writing.add(cost.answer_tokens, lambda: self._finish(cost, done), cost.k)
        self.writing.pause(False)
        self._continue()

    def _finish(self, cost: SamplingCost, done: Action) -> None:
        self._kv_tokens -= cost.kv_tokens
        self.present -= 1
        self._continue()
        done()


class SimulatedIngress:
    """Admits or refuses questions as ``serve_app/service`` does; they share one core."""

    def __init__(self, clock: Clock, deployment: Deployment) -> None:
        self._clock = clock
        self._deployment = deployment
        self._load = deployment.build_load()
        self._principals: Counter[int] = Counter()
        self._waiting: deque[Action] = deque()
        self._ongoing = 0
        self.processor = SharedServer(clock, lambda jobs: 1 / jobs)
        self.present = 0

    def enter(self, principal: int, start: Callable[[Action], None]) -> bool:
        """Calls ``start`` at the question's turn with what it calls at its end; False: refused."""
        if not self._accepts(principal):
            return False
        self._principals[principal] += 1
        self.present += 1
        entered, present = self._clock.now, self.present

        def leave() -> None:
            self._load.measure(self._clock.now - entered, present)
            self._principals[principal] -= 1
            self._principals += Counter()  # drops those without a question
            self.present -= 1
            if self._waiting:
                self._waiting.popleft()()
            else:
                self._ongoing -= 1

        if self._ongoing < self._deployment.max_ongoing:
            self._ongoing += 1
            start(leave)
        else:
            self._waiting.append(lambda: start(leave))
        return True

    def _accepts(self, principal: int) -> bool:
        limits, bound = self._deployment, self._load.most_present
        if self._ongoing >= limits.max_ongoing and len(self._waiting) >= limits.max_waiting:
            return False
        share = max(1.0, bound / len({*self._principals, principal}))
        # A lookup would add the principal to the counter.
        own = self._principals.get(principal, 0) + 1
        return self.present + 1 <= bound or own <= share


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
    clock = Clock()
    drawing, routing = Random(f"questions {seed}"), Random(f"routes {seed}")
    ingresses = [SimulatedIngress(clock, deployment) for _ in range(deployment.replicas)]
    engines = [SimulatedEngine(clock, deployment.profile) for _ in range(deployment.engines)]
    latencies: list[tuple[float, float]] = []
    refused: list[float] = []
    shares: list[float] = []
    end = arrivals_s[-1] if arrivals_s else 0.0
    warm = WARM_UP * end

    def read_shares() -> None:
        seconds = max(end, 1e-9)
        writing_s = sum(engine.writing.weighted_s for engine in engines)
        busy_s = sum(engine.busy_s for engine in engines)
        cpu_s = sum(ingress.processor.busy_s for ingress in ingresses)
        shares.extend((cpu_s / len(ingresses) / seconds, busy_s / len(engines) / seconds))
        shares.append(writing_s / busy_s if busy_s else 0.0)

    def arrive(number: int) -> None:
        cost = drawing.choice(workload)
        principal = drawing.randrange(principals)
        ingress = _route(ingresses, routing)
        if not ingress.enter(principal, lambda leave: answer(number, cost, ingress, leave)):
            refused.append(clock.now)
        expect(number + 1)

    def answer(number: int, cost: QuestionCost, ingress: SimulatedIngress, leave: Action) -> None:
        def ask_model() -> None:
            _route(engines, routing).sample(cost.sampling, assess)

        def assess() -> None:
            ingress.processor.add(cost.cpu_after_s, execute)

        def execute() -> None:
            clock.schedule(cost.database_s, finish)

        def finish() -> None:
            leave()
            latencies.append((arrivals_s[number], clock.now - arrivals_s[number]))

        ingress.processor.add(cost.cpu_before_s, ask_model)

    def expect(number: int) -> None:
        if number < len(arrivals_s):
            delay = arrivals_s[number] - clock.now
            clock.schedule(max(0.0, delay), lambda: arrive(number))

    clock.schedule(end, read_shares)
    expect(0)
    clock.run()
    counted = sum(time >= warm for time in arrivals_s)
    return Prediction(
        len(arrivals_s),
        len(latencies),
        len(refused),
        tuple(seconds for arrival, seconds in latencies if arrival >= warm),
        sum(time >= warm for time in refused) / max(1, counted),
        *shares,
    )


_Replica = TypeVar("_Replica", SimulatedIngress, SimulatedEngine)


def _route(replicas: Sequence[_Replica], routing: Random) -> _Replica:
    """The less busy of two random replicas (power of two choices, Mitzenmacher 2001)."""
    if len(replicas) == 1:
        return replicas[0]
    first, second = routing.sample(replicas, 2)
    return first if first.present <= second.present else second
