"""The engine for OpenAI's protocol against vLLM's own server, with the default model's weights."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from generation.engines.openai_engine import OpenAiEngine
from generation.models.forms import SAFETENSORS
from generation.models.store import ModelStore
from nl2sql.errors import PromptTooLong
from nl2sql.settings import ModelSettings
from nl2sql.types import Message, Prompt
from tests.conftest import ROOT
from tests.generation.engines.test_openai_engine import build_request

pytestmark = [pytest.mark.vllm, pytest.mark.model, pytest.mark.timeout(900)]

PORT = 8137
WINDOW = 1024
PROMPT = Prompt(
    "generate",
    (
        Message("system", "Write one SQLite SELECT. Answer with the SQL in a ```sql block."),
        Message("user", "CREATE TABLE orders (id INT, total REAL);\n\nHow many orders are there?"),
    ),
)


@pytest.fixture
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The running server's address."""
    folder = ModelStore(ROOT / ".quorumsql" / "models", SAFETENSORS).find(
        "qwen2.5-coder-0.5b-instruct"
    )
    if folder is None:
        pytest.fail("The weights are not here: make weights-vllm")
    log = tmp_path_factory.mktemp("vllm") / "server.log"
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(folder)]
    options = {
        "served-model-name": "tiny",
        "host": "127.0.0.1",
        "port": str(PORT),
        "max-model-len": str(WINDOW),
        # As our own engine: a seed's offset is lost in partial prefills on a CPU.
        "max-num-batched-tokens": "8192",
        "generation-config": "vllm",
    }
    for name, value in options.items():
        command += [f"--{name}", value]
    command += ["--enforce-eager", "--no-enable-chunked-prefill"]
    environment = {**os.environ, "VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_NO_USAGE_STATS": "1"}
    environment |= {"HF_HUB_OFFLINE": "1"}
    with log.open("wb") as output:
        server = subprocess.Popen(command, stdout=output, stderr=output, env=environment)
    try:
        _wait_until_up(server, log)
        yield f"http://127.0.0.1:{PORT}/v1"
    finally:
        # Its engine is a process of its own, which would outlive a server that is killed.
        started = [psutil.Process(server.pid), *psutil.Process(server.pid).children(recursive=True)]
        server.terminate()
        _, left = psutil.wait_procs(started, timeout=30)
        for process in left:
            process.kill()


def _wait_until_up(server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline and server.poll() is None:
        try:
            if httpx.get(f"http://127.0.0.1:{PORT}/health").status_code == 200:
                return
        except httpx.HTTPError:
            time.sleep(0.5)
    pytest.fail(f"vLLM did not start:\n{log.read_text()[-3000:]}")


async def test_samples_repeat_tokens_are_counted_and_a_cancelled_call_ends_there(url: str) -> None:
    engine = OpenAiEngine(ModelSettings(engine="openai", base_url=url, name="tiny"))
    request = build_request(prompt=PROMPT, k=4, temperature=1.2)
    first, second = await engine.sample(request), await engine.sample(request)
    assert first.texts == second.texts
    assert len(first.texts) == len(first.logprobs) == 4
    assert all(logprob < 0 for logprob in first.logprobs)
    assert not any("```" in text for text in first.texts)
    assert "SELECT" in first.texts[0]

    assert await engine.count_tokens(("SELECT", "SELECT SELECT")) == (1, 2)
    long, fitting = (
        Prompt("generate", (Message("user", "SELECT " * words),)) for words in (WINDOW, WINDOW - 80)
    )
    with pytest.raises(PromptTooLong, match=f"the model takes {WINDOW}"):
        await engine.sample(build_request(prompt=long))
    await engine.sample(build_request(prompt=fitting, max_tokens=500))

    endless = build_request(prompt=PROMPT, k=4, temperature=2.0, max_tokens=900, stop=())
    call = asyncio.create_task(engine.sample(endless))
    await asyncio.sleep(2)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    async with httpx.AsyncClient(base_url=url.removesuffix("/v1")) as client, asyncio.timeout(30):
        while _count_running((await client.get("/metrics")).text):  # noqa: ASYNC110 - of a server
            await asyncio.sleep(0.2)
    await engine.close()


def _count_running(metrics: str) -> float:
    lines = [line for line in metrics.splitlines() if line.startswith("vllm:num_requests_running")]
    assert lines
    return sum(float(line.rpartition(" ")[2]) for line in lines)
