"""The engines, which compute completions; only an engine's module imports its library.

``openvino_engine`` runs the model in a process, ``vllm_engine`` through vLLM in this process.
``openai_engine`` uses any server with OpenAI's chat completions, ``anthropic_engine`` one with
Anthropic's messages. The libraries are imported when an engine is created.
"""

from __future__ import annotations

from typing import Protocol

from nl2sql.protocols import Engine, Probe


class OpenEngine(Engine, Probe, Protocol):
    """An open engine."""

    async def requests_in_flight(self) -> int:
        """The number of unfinished requests, without cancelled ones."""
        ...

    async def check_health(self) -> None:
        """Raise EngineUnavailable, or never return, if only a restart of the engine can help."""
        ...

    async def close(self) -> None:
        """Free the engine's resources."""
        ...
