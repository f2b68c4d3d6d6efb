"""What it costs to give each CPU stage a deployment of its own (``serve.fuse_cpu_stages: false``).

    python -m bench.splitting [--rounds 3] [--questions 20] [--config quorumsql.yaml]

Asks the demo's questions over HTTP, one after another, with the four texts of a question that
``bench.ingress`` gives its model; first of a service whose stages are fused, then of one
where they are split. Milliseconds of processor time per question, by process, without what the same
processes use in as long a time without questions; PostgreSQL's processes are not included.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import httpx
import psutil

from bench.ingress import K, read_texts
from nl2sql.settings import load_settings
from nl2sql.types import Completions, SamplingRequest
from serve_app.operations.preparation import prepare
from serve_app.reporting import SilentReporter
from tests.serve_app.echo_engine import EchoEngine
from tests.serve_app.ray.ray_service import serving

_IDLE_S = 5.0


class TextsEngine(EchoEngine):
    """Answers a question with its texts."""

    texts: Mapping[str, Sequence[str]] = {}

    async def sample(self, request: SamplingRequest) -> Completions:
        """The texts of the question."""
        question = request.prompt.messages[-1].content.rpartition("Question: ")[2].strip()
        texts = self.texts[question]
        drawn = tuple(texts[at % len(texts)] for at in range(request.k))
        return Completions(drawn, prompt_tokens=1000, completion_tokens=40 * request.k)


def read_processor_ms() -> dict[tuple[str, int], float]:
    """Milliseconds of processor time of each process of the service, by its name and number."""
    found = {}
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            times, title = process.cpu_times(), process.cmdline()[0]
            # ray::ServeReplica:quorumsql:executor, ray::ProxyActor, …/raylet
            name = title.split(".")[0].strip().split(":")[-1].split("/")[-1]
            found[name, process.pid] = (times.user + times.system) * 1000
    return found


def read_memory_mib() -> float:
    """The memory that replicas have for themselves alone."""
    used: int = sum(
        process.memory_full_info().uss
        for process in psutil.Process().children(recursive=True)
        if process.cmdline()[0].startswith("ray::ServeReplica")
    )
    return used / 2**20


def spend(before: Mapping[tuple[str, int], float]) -> Counter[str]:
    """What has been used since ``before``, by name."""
    used: Counter[str] = Counter()
    for (name, pid), spent in read_processor_ms().items():
        used[name] += spent - before.get((name, pid), 0.0)  # type: ignore[assignment]
    return used


def measure(url: str, questions: Sequence[str], rounds: int) -> dict[str, float]:
    """Milliseconds of a question by process; ``wall`` is the time to the answer, not processor."""
    with httpx.Client(base_url=url, timeout=60) as client:

        def ask(question: str) -> None:
            client.post("/query", json={"question": question, "k": K}).raise_for_status()

        for question in questions:
            ask(question)
        before, start = read_processor_ms(), time.monotonic()
        time.sleep(_IDLE_S)
        idle, idle_s = spend(before), time.monotonic() - start
        before, start = read_processor_ms(), time.monotonic()
        for _ in range(rounds):
            for question in questions:
                ask(question)
        asked_s, used = time.monotonic() - start, spend(before)
    count = rounds * len(questions)
    found = {name: (ms - idle[name] * asked_s / idle_s) / count for name, ms in used.items()}
    return {"wall": asked_s * 1000 / count, "all": sum(found.values())} | found


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--config", type=Path, default=Path("quorumsql.yaml"))
    asked = parser.parse_args()
    settings = load_settings(asked.config)
    wiring = asyncio.run(prepare(settings, SilentReporter(), databases=[settings.default_database]))
    texts = dict(itertools.islice(read_texts().items(), asked.questions))
    engine = type("Texts", (TextsEngine,), {"texts": texts})
    for fused in (True, False):
        with serving(wiring, engine=engine, fuse_cpu_stages=fused, dashboard=False) as url:
            found = measure(url, [*texts], asked.rounds)
            found["MiB"] = read_memory_mib()
        print("fused" if fused else "split", {name: round(ms, 1) for name, ms in found.items()})


if __name__ == "__main__":
    main()
