"""Compares the local engines: prompt speed, K, concurrent questions, memory.

``python -m bench.engines [--engines openvino:MODEL,vllm:MODEL] [--runs 3]
[--sizes 220,500,1000,2000] [--ks 1,4,8] [--at-once 16] [--tokens 32] [--isa AVX2]
[--config quorumsql.yaml] [--json FILE]`` prints a table in Markdown, below the processor's name. In
every run each engine is started in a separate process, one after the other, so that figures are
paired; a row shows the medians and the median of the runs' ratios. Nothing else should run on the
machine.

A prompt is *cold* if it shares no beginning with earlier ones, *warm* when it is asked again.
``--isa`` limits the instructions of oneDNN, which both engines use (``AVX2``,
``AVX512_CORE_VNNI``); vLLM then computes in float32.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

from evaluation.runs.environment import describe_machine
from generation.engines import OpenEngine, vllm_engine
from generation.engines.choice import ISA_LIMIT, read_cpu_flags
from nl2sql.settings import load_settings
from nl2sql.types import Completions, Message, Prompt, SamplingRequest
from serve_app.composition.wiring import Wiring

_FLAGS = ("avx2", "fma", "avx512f", "avx512_vnni", "avx512_bf16", "amx_bf16", "amx_int8")
_AT_ONCE_TOKENS = 500
_MODEL = "qwen2.5-coder-0.5b-instruct"

Figures = Mapping[str, float]


class Prompts:
    """Prompts of a given length with different beginnings."""

    def __init__(self, engine: OpenEngine) -> None:
        self._engine = engine
        self._number = 0

    async def build(self, tokens: int) -> Prompt:
        """A prompt with a schema and a question of about that many tokens."""
        self._number += 1
        line = f"CREATE TABLE orders_{self._number % 10} (id INTEGER, day DATE, amount NUMERIC);\n"
        head, tail = f"{os.getpid() * 1000 + self._number:09d}\n", "How many orders a day?"
        whole, one = await self._engine.count_tokens((head + tail, line))
        text = head + line * max(1, (tokens - whole) // one) + tail
        return Prompt("generate", (Message("user", text),))


async def measure_engine(
    engine: OpenEngine, sizes: Sequence[int], ks: Sequence[int], at_once: int, tokens: int
) -> dict[str, float]:
    """All figures of a running engine by name, in seconds, or in tokens a second if named so."""
    prompts = Prompts(engine)
    await _time(engine, await prompts.build(64), 1, tokens)  # the first request is slower
    figures: dict[str, float] = {}
    for size in sizes:
        seconds, completions = await _time(engine, await prompts.build(size), 1, 1)
        figures[f"prompt of {size}: tokens/s, cold"] = completions.prompt_tokens / seconds
        for k in ks:
            prompt = await prompts.build(size)
            for state in ("cold", "warm"):
                seconds, _ = await _time(engine, prompt, k, tokens)
                figures[f"prompt of {size}, K={k}, {state}: s"] = seconds
    some = [await prompts.build(_AT_ONCE_TOKENS) for _ in range(2 * at_once)]
    start = time.perf_counter()
    for prompt in some[:at_once]:
        await _time(engine, prompt, 1, tokens)
    one_by_one = time.perf_counter() - start
    start = time.perf_counter()
    await asyncio.gather(*(_time(engine, prompt, 1, tokens) for prompt in some[at_once:]))
    together = time.perf_counter() - start
    figures[f"{at_once} of {_AT_ONCE_TOKENS}, one by one: s"] = one_by_one
    figures[f"{at_once} of {_AT_ONCE_TOKENS}, at once: s"] = together
    figures["rate at once / one by one"] = one_by_one / together
    for size in sizes:
        least, most = (figures[f"prompt of {size}, K={k}, cold: s"] for k in (min(ks), max(ks)))
        figures[f"prompt of {size}, cold: K={max(ks)} / K={min(ks)}"] = most / least
    return figures


async def _time(
    engine: OpenEngine, prompt: Prompt, k: int, tokens: int
) -> tuple[float, Completions]:
    start = time.perf_counter()
    completions = await engine.sample(SamplingRequest(prompt, k, 7, 0.8, tokens))
    return time.perf_counter() - start, completions


def measure_memory() -> float:
    """Resident memory of this process and its children, in GB."""
    process = psutil.Process()
    family = (process, *process.children(recursive=True))
    return float(sum(each.memory_info().rss for each in family)) / 1e9


async def run_child(arguments: argparse.Namespace) -> dict[str, float]:
    """One engine in this process, from its start."""
    settings = load_settings(arguments.config)
    name, _, weights = arguments.child.partition(":")
    model = settings.model.model_copy(update={"engine": name, "name": weights or _MODEL})
    if arguments.isa:
        vars(vllm_engine)["read_cpu_flags"] = lambda: frozenset({"avx2"})
    start = time.perf_counter()
    engine = Wiring(settings.model_copy(update={"model": model})).models.open_engine()
    try:
        await engine.count_tokens(("ready",))
        figures = {"start to ready: s": time.perf_counter() - start}
        figures |= {"memory at rest: GB": measure_memory()}
        figures |= await measure_engine(
            engine, arguments.sizes, arguments.ks, arguments.at_once, arguments.tokens
        )
        return figures | {"memory afterwards: GB": measure_memory()}
    finally:
        await engine.close()


def run_engine(engine: str, arguments: Sequence[str], isa: str) -> Figures:
    """The figures of one run of an engine in a separate process."""
    command = [sys.executable, "-m", "bench.engines", *arguments, "--child", engine]
    environment = os.environ | ({ISA_LIMIT: isa} if isa else {})
    if isa == "AVX2":
        environment["ATEN_CPU_CAPABILITY"] = "avx2"
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, text=True)
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def render_table(runs: Mapping[str, Sequence[Figures]]) -> str:
    """Medians by engine; with two engines also the median ratio of the second to the first.

    >>> print(render_table({"a": [{"x": 1.0}, {"x": 3.0}], "b": [{"x": 2.0}, {"x": 9.0}]}))
    | | a | b | b / a |
    |---|---|---|---|
    | x | 2.00 | 5.50 | 2.50 |
    """
    engines = list(runs)
    pair = engines if len(engines) == 2 else []
    heads = [*engines, *([f"{pair[1]} / {pair[0]}"] if pair else [])]
    lines = [f"| | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|"]
    for name in runs[engines[0]][0]:
        cells = [statistics.median(figures[name] for figures in runs[engine]) for engine in engines]
        if pair:
            both = zip(runs[pair[0]], runs[pair[1]], strict=True)
            cells.append(statistics.median(two[name] / one[name] for one, two in both))
        lines.append(f"| {name} | {' | '.join(f'{cell:.2f}' for cell in cells)} |")
    return "\n".join(lines)


def describe_processor(isa: str) -> str:
    """The line above the table."""
    machine = describe_machine()
    flags = " ".join(flag for flag in _FLAGS if flag in read_cpu_flags())
    limit = f"; held to {isa}" if isa else ""
    return f"{machine['processor']}, {machine['cores']} cores ({flags}){limit}"


def _read_numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(","))


def main() -> None:
    """Runs the engines in turn and prints the table; with ``--child`` one engine's figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--engines", default=f"openvino:{_MODEL}")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--sizes", type=_read_numbers, default=(220, 500, 1000, 2000))
    parser.add_argument("--ks", type=_read_numbers, default=(1, 4, 8))
    parser.add_argument("--at-once", type=int, default=16)
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--isa", default="")
    parser.add_argument("--config", type=Path, default=Path("quorumsql.yaml"))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--child", default="", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(asyncio.run(run_child(arguments))))
        return
    runs: dict[str, list[Figures]] = {name: [] for name in arguments.engines.split(",")}
    for _ in range(arguments.runs):
        for name, figures in runs.items():
            figures.append(run_engine(name, sys.argv[1:], arguments.isa))
    print(describe_processor(arguments.isa) + "\n")
    print(render_table(runs))
    if arguments.json:
        arguments.json.write_text(json.dumps(runs, indent=1) + "\n")


if __name__ == "__main__":
    main()
