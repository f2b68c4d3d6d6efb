"""vLLM in this process; the only module that imports it.

Uses AsyncLLM on CPU and GPU. A question is K requests of one completion, as vLLM makes of ``n=K``
too: prefix caching reads their prompt once, and at a time limit those that are finished are known
without an output after every token. It also keeps the schema of earlier questions. Runs with the
same seed are repeatable, and a cancelled call aborts its requests in the engine. Knows nothing of
SQL.
"""

from __future__ import annotations

import asyncio
import os
import uuid
from pathlib import Path
from typing import Any

from generation.engines.chat_encoder import ChatEncoder
from generation.engines.choice import INSTALL_VLLM, choose_cpu_dtype, read_cpu_flags
from generation.engines.engine_watch import find_children, watch_processes
from generation.engines.server import count_room
from generation.gathering import gather_until
from generation.models.adapters import PURPOSES, read_adapter_rank
from nl2sql.deadline import Deadline
from nl2sql.errors import EngineUnavailable
from nl2sql.progress import report_sampling
from nl2sql.settings import ModelSettings
from nl2sql.types import Completions, Progress, SamplingRequest

# Most tokens of a step: enough for a prompt of several thousand in addition to running requests.
_CPU_BATCH_TOKENS = 8192
# How often a check of health that waits looks whether the engine has died.
_LOOK_S = 1.0
_DIED = "The language model's engine has died."
# The ranks of adapters for which vLLM allocates room.
_RANKS = (8, 16, 32, 64, 128, 256, 320, 512)


class VllmEngine:
    """A language model served by vLLM. Loading takes half a minute on a CPU."""

    def __init__(
        self, folder: Path, settings: ModelSettings, *, adapter: Path | None = None
    ) -> None:
        """Loads the weights in ``folder``, and the adapter in its folder.

        Raises EngineUnavailable if vLLM does not start.
        """
        _prepare_environment(settings)
        try:
            import torch
            from vllm.engine.arg_utils import AsyncEngineArgs
            from vllm.lora.request import LoRARequest
            from vllm.usage.usage_lib import UsageContext
            from vllm.v1.engine.async_llm import AsyncLLM
        except ImportError as error:
            raise EngineUnavailable(
                f"vLLM cannot be imported: {error}",
                hint=INSTALL_VLLM,
            ) from error
        on_gpu = torch.cuda.is_available()
        arguments = AsyncEngineArgs(
            model=str(folder),
            dtype="bfloat16" if on_gpu else choose_cpu_dtype(read_cpu_flags()),
            max_model_len=settings.max_model_len,
            # On a CPU compilation takes longer than it saves.
            enforce_eager=not on_gpu,
            enable_prefix_caching=True,
            # Only the request determines the sampling, not the weights' defaults.
            generation_config="vllm",
            **({} if on_gpu else _cpu_arguments(settings)),
            tensor_parallel_size=settings.tensor_parallel_size,
            gpu_memory_utilization=settings.gpu_memory_utilization,
            **_adapter_arguments(adapter),
        )
        before = find_children()
        try:
            # By this vLLM chooses how many sequences and tokens a step holds: on an H100 1,024 and
            # 8,192 as its server does, 128 and 2,048 otherwise.
            self._engine = AsyncLLM.from_engine_args(
                arguments, usage_context=UsageContext.OPENAI_API_SERVER
            )
        except Exception as error:  # vLLM raises many kinds; its log has the reason
            raise EngineUnavailable(
                f"vLLM does not start with the weights in {folder}: {error}",
                hint="Its log above says why; `quorumsql doctor` checks memory and weights.",
            ) from error
        started = find_children()
        self._watcher = watch_processes({pid: started[pid] for pid in started.keys() - before})
        self._adapter: Any = None
        if adapter is not None:
            self._adapter = LoRARequest("adapter", 1, str(adapter.resolve()))
        self._max_model_len = settings.max_model_len
        self._chat = ChatEncoder(self._engine.get_tokenizer())

    async def sample(self, request: SamplingRequest) -> Completions:
        """``request.k`` completions, or those that are finished at the time limit.

        So too if the engine dies. Raises PromptTooLong, and EngineUnavailable if it died before.
        """
        from vllm.v1.engine.exceptions import EngineDeadError

        token_ids = self._chat.encode(request.prompt, request.answer_start)
        room = count_room(len(token_ids), self._max_model_len)
        finished: list[Any] = []
        name = uuid.uuid4().hex

        async def draw(index: int) -> Any:
            try:
                output = await self._draw(request, token_ids, room, name, index)
            except EngineDeadError as error:
                raise EngineUnavailable(_DIED, hint="It is restarted; try again later.") from error
            finished.append(output)
            report_sampling(
                name,
                Progress(
                    "",
                    done=len(finished),
                    total=request.k,
                    prompt_tokens_read=len(token_ids),
                    prompt_tokens=len(token_ids),
                    answer_tokens=sum(len(each.token_ids) for each in finished),
                ),
            )
            return output

        drawn = await gather_until(
            Deadline.after(request.time_limit_s),
            [draw(index) for index in range(request.k)],
        )
        outputs = [output for output in drawn if output is not None]
        return Completions(
            texts=tuple(output.text for output in outputs),
            prompt_tokens=len(token_ids),
            completion_tokens=sum(len(output.token_ids) for output in outputs),
        )

    async def _draw(
        self, request: SamplingRequest, token_ids: list[int], room: int, name: str, index: int
    ) -> Any:
        """One completion of the prompt. Raises EngineDeadError."""
        from vllm import SamplingParams, TokensPrompt
        from vllm.sampling_params import RequestOutputKind

        sampling = SamplingParams(
            seed=request.seed + index,
            temperature=request.temperature,
            max_tokens=min(request.max_tokens, room),
            stop=list(request.stop),
            # An output after every token would be built, sent and thrown away.
            output_kind=RequestOutputKind.FINAL_ONLY,
        )
        outputs = [
            output
            async for output in self._engine.generate(
                TokensPrompt(prompt_token_ids=token_ids),
                sampling,
                f"{name}-{index}",
                lora_request=self._adapter if request.prompt.purpose in PURPOSES else None,
            )
        ]
        return outputs[-1].outputs[0]

    async def count_tokens(self, texts: tuple[str, ...]) -> tuple[int, ...]:
        """The number of tokens of each text, without special tokens."""
        return tuple(map(self._chat.count, texts))

    async def requests_in_flight(self) -> int:
        """The number of unfinished requests, without cancelled ones."""
        return int(self._engine.output_processor.get_num_unfinished_requests())

    async def probe(self) -> tuple[tuple[str, str], ...]:
        """``(("engine", problem),)``, empty if all is well."""
        return (("engine", _DIED if self._engine.errored else ""),)

    async def check_health(self) -> None:
        """Raises EngineUnavailable if the engine died; never returns if it stands still.

        Its process answers this question between two steps.
        """
        answer = asyncio.ensure_future(self._engine.is_sleeping())
        try:
            while not answer.done():
                await asyncio.wait({answer}, timeout=_LOOK_S)
                if self._engine.errored:
                    raise EngineUnavailable(_DIED)
        finally:
            answer.cancel()
            await asyncio.gather(answer, return_exceptions=True)

    async def close(self) -> None:
        """Stops the engine's process."""
        self._engine.shutdown()
        # The destructor must run before the interpreter shuts down.
        del self._engine
        self._watcher.communicate()


def _cpu_arguments(settings: ModelSettings) -> dict[str, Any]:
    """Arguments with which prompts are prefilled whole.

    After every partial prefill, vLLM 0.32 resets the random offset of a seeded request, which CPU
    generators do not support: the engine would die ("CPU Generator does not use offset").
    """
    return {
        "enable_chunked_prefill": False,
        "max_num_batched_tokens": max(settings.max_model_len, _CPU_BATCH_TOKENS),
    }


def _adapter_arguments(adapter: Path | None) -> dict[str, Any]:
    """Arguments for one adapter. Raises SettingsError if it is not in peft's form."""
    if adapter is None:
        return {}
    rank = read_adapter_rank(adapter)
    # vLLM allocates room for a rank of its own list.
    room = next((each for each in _RANKS if each >= rank), rank)
    return {"enable_lora": True, "max_loras": 1, "max_lora_rank": room}


def _prepare_environment(settings: ModelSettings) -> None:
    """Sets the variables that vLLM reads when it is imported."""
    os.environ["VLLM_CPU_NUM_OF_RESERVED_CPU"] = "0"
    os.environ["VLLM_CPU_KVCACHE_SPACE"] = str(settings.kv_cache_gib)
    os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")
    os.environ.setdefault("VLLM_LOGGING_LEVEL", "WARNING")
    # The weights are in a folder; vLLM must not search the hub.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    # Ray sets it to the replica's share of cores, which would limit vLLM to one thread.
    os.environ.pop("OMP_NUM_THREADS", None)
